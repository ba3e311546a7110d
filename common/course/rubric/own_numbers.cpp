#include "common/course/rubric/own_numbers.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/course/rubric/content_hash.h"
#include "common/course/rubric/rubric.h"

namespace lab {
namespace {

/// An id as it may be typed: blanks around it and upper case do not matter.
std::string same_id(const std::string& student) {
  std::string id = one_line(student);
  for (char& c : id) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return id;
}

}  // namespace

QuestionNumbers read_numbers(const Rubric& rubric, const RubricManual& manual, const std::string& student) {
  const std::string id = same_id(student);
  const bool own = !rubric.own_numbers.empty() && !id.empty();
  QuestionNumbers numbers;
  for (const RubricNumber& number : manual.numbers) {
    const std::string text = id + "\n" + manual.id + "\n" + number.name;
    const std::uint64_t drawn =
        keyed_hash({keyed_hash({0, 0}, rubric.own_numbers), keyed_hash({1, 0}, rubric.own_numbers)}, text);
    const auto count = static_cast<std::uint64_t>(number.to - number.from + 1);
    numbers[number.name] = own ? number.from + static_cast<int>(drawn % count) : number.handout;
  }
  return numbers;
}

std::string question_with(const RubricManual& manual, const QuestionNumbers& numbers) {
  std::string text = manual.question;
  for (const auto& [name, number] : numbers) replace_all(text, "{" + name + "}", std::to_string(number));
  return text;
}

std::string list_questions(const Rubric& rubric, const std::string& student) {
  std::string text;
  for (const RubricManual& manual : rubric.manuals) {
    if (manual.numbers.empty()) continue;
    text += fmt::format("{}: {}\n", manual.title, question_with(manual, read_numbers(rubric, manual, student)));
  }
  if (text.empty())
    throw UsageError(
        fmt::format("{}: expected a lab with numbers in its written questions, got one without", rubric.lab));
  return text + (rubric.own_numbers.empty()
                     ? "These are the numbers of the handout, which everybody has.\n"
                     : fmt::format("These are the numbers of {}, in place of those in the handout and its template.\n",
                                   safe_text(one_line(student), 100)));
}

}  // namespace lab
