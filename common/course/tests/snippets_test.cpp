#include "common/course/starter/snippets.h"

#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

using testing::contains;
using testing::get_message;

using Files = std::map<std::string, std::string>;

const char* const kAnswers = R"(# Answers

## Q1
Words, and `code` in a line.

```cpp student/baseline.cpp
old
```

```
a drawing
```
)";

std::string snippet_refusal(const std::string& markdown) {
  return get_message([&] { find_snippets(markdown, "a5_answers.md"); });
}

TEST_CASE("blocks that name a file are filled, all else stays as it is") {
  CHECK(with_snippets(kAnswers, {{"student/baseline.cpp", "int main() {}\n"}}) == R"(# Answers

## Q1
Words, and `code` in a line.

```cpp student/baseline.cpp
int main() {}
```

```
a drawing
```
)");
  CHECK(with_snippets(kAnswers, {}) == kAnswers);
}

TEST_CASE("a file without a block gets one at the end, under a heading") {
  const std::string filled = with_snippets(kAnswers, {{"student/a.cpp", "a\n"}, {"student/b.cpp", "b"}});
  CHECK(filled ==
        std::string(kAnswers) + "\n## Code\n\n```cpp student/a.cpp\na\n```\n\n```cpp student/b.cpp\nb\n```\n");
  // Again with other files: they are filled in, and nothing is added.
  const std::string again = with_snippets(filled, {{"student/a.cpp", "aa\n"}, {"student/b.cpp", "bb\n"}});
  CHECK(find_snippets(again, "x") ==
        Files{{"student/a.cpp", "aa\n"}, {"student/b.cpp", "bb\n"}, {"student/baseline.cpp", "old\n"}});
  CHECK(again.size() == filled.size() + 2);
  CHECK(with_snippets("", {{"student/a.cpp", "a\n"}}) == "## Code\n\n```cpp student/a.cpp\na\n```\n");
  CHECK(with_snippets("no line break", {{"student/a.cpp", "a\n"}}).find("no line break\n\n## Code\n") == 0);
}

TEST_CASE("what is filled in comes out again, whatever it holds") {
  const Files files = {
      {"student/a.cpp", "// ```cpp student/b.cpp\n```\n````\n"}, {"student/b.cpp", ""}, {"student/c.cpp", "\r\n\r\n"}};
  CHECK(find_snippets(with_snippets("# A\n", files), "x") == files);
  CHECK(find_snippets(with_snippets("```cpp student/a.cpp\r\n```\r\n", files), "x") == files);
}

TEST_CASE("only cpp blocks with a name are files") {
  CHECK(find_snippets("```cpp\ncode\n```\n```sh student/a.cpp\n```\n    ```cpp student/a.cpp\n", "x").empty());
  // A block inside another is text.
  CHECK(find_snippets("````\n```cpp student/a.cpp\n```\n````\n", "x").empty());
  CHECK(find_snippets("````cpp student/a.cpp\n```\n````", "x") == Files{{"student/a.cpp", "```\n"}});
}

TEST_CASE("what cannot be a submission is refused") {
  CHECK(snippet_refusal("a\n```cpp student/a.cpp\ncode\n") ==
        "a5_answers.md:2: the block of student/a.cpp has no end; expected a line of backquotes after it");
  CHECK(snippet_refusal("```cpp student/a.cpp\n```\n```cpp student/a.cpp\n```\n") ==
        "a5_answers.md:3: student/a.cpp has a block already; expected one for each file");
  for (const std::string name : {"../a.cpp", "student/../../a.cpp", "/etc/passwd", "student", "studentx/a.cpp"}) {
    CAPTURE(name);
    CHECK(contains(snippet_refusal("```cpp " + name + "\n```\n"),
                   "a5_answers.md:1: expected a block of a file in student/"));
  }
}

}  // namespace
}  // namespace lab
