#include "common/course/starter/answer_template.h"

#include "common/testing/plain_test.h"

namespace lab {
namespace {

const std::string kTemplate = R"(# Answers

| rank | value |
|------|-------|
| 0    |       |
| 1    |       |
| 2    |       |

Why:

```cpp student/a.cpp
```
)";

std::string answers_with(const std::string& from, const std::string& to) {
  std::string text = kTemplate;
  return text.replace(text.find(from), from.size(), to);
}

TEST_CASE("names of templates") {
  CHECK(find_template("written.md") == "written.template.md");
  CHECK(find_template("a/b.log") == "a/b.template.log");
}

TEST_CASE("a template is untouched while hardly a word was added") {
  CHECK(is_untouched(kTemplate, kTemplate));
  CHECK(is_untouched("", kTemplate));
  CHECK(is_untouched(kTemplate + "x", kTemplate));
  CHECK(is_untouched(answers_with("Why", "Whyx"), kTemplate));
  CHECK(is_untouched("Ada Lovelace\n\n" + kTemplate, kTemplate));
  CHECK(is_untouched(answers_with("\n", "\r\n"), kTemplate));
  CHECK(is_untouched(answers_with("| 0    |       |", "| 0 | |"), kTemplate));  // blanks are not words
  CHECK(is_untouched(answers_with("```cpp student/a.cpp\n", "```cpp student/a.cpp\nint many() { return words; }\n"),
                     kTemplate));
}

TEST_CASE("a short answer is an answer") {
  CHECK_FALSE(is_untouched(answers_with("| 0    |       |\n| 1    |       |\n| 2    |       |",
                                        "| 0    | 20    |\n| 1    | 20    |\n| 2    | 20    |"),
                           kTemplate));
  CHECK_FALSE(is_untouched(answers_with("Why:", "Why: all ranks receive"), kTemplate));
  CHECK_FALSE(is_untouched("Forty-two.\n", kTemplate));                  // instead of the template
  CHECK_FALSE(is_untouched(kTemplate + "Why: Why: Why:\n", kTemplate));  // words of the template, repeated
}

}  // namespace
}  // namespace lab
