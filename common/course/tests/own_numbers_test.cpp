#include "common/course/rubric/own_numbers.h"

#include <set>

#include "common/api/errors.h"
#include "common/course/rubric/rubric.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

Rubric two_questions() {
  Rubric rubric;
  rubric.lab = "b1_total";
  rubric.own_numbers = "fall 2026";
  RubricManual manual;
  manual.id = "b1.q1";
  manual.title = "Q1";
  manual.question = "`src = {src}` and {factor} * {factor} of {other}";
  manual.numbers = {{"src", 1, 0, 3}, {"factor", 10, 2, 19}};
  rubric.manuals = {manual, RubricManual()};
  manual.id = "b1.q2";
  rubric.manuals.push_back(manual);
  return rubric;
}

TEST_CASE("a student's numbers are the same everywhere and each time") {
  const Rubric rubric = two_questions();
  const QuestionNumbers numbers = read_numbers(rubric, rubric.manuals[0], "s1234567");
  // Whoever changes how they are drawn changes what a class is working on.
  CHECK(numbers == QuestionNumbers{{"factor", 6}, {"src", 3}});
  CHECK(read_numbers(rubric, rubric.manuals[0], " S1234567\n") == numbers);
  CHECK(read_numbers(rubric, rubric.manuals[1], "s1234567").empty());
}

TEST_CASE("others have others, over the whole range") {
  Rubric rubric = two_questions();
  std::set<int> sources, factors;
  int num_same_next = 0, num_same_question = 0, num_same_year = 0;
  constexpr int kStudents = 400;
  for (int i = 0; i < kStudents; ++i) {
    const auto of = [&](int student, std::size_t question) {
      return read_numbers(rubric, rubric.manuals[question], "s" + std::to_string(1'000'000 + student));
    };
    const QuestionNumbers numbers = of(i, 0);
    sources.insert(numbers.at("src"));
    factors.insert(numbers.at("factor"));
    num_same_next += numbers == of(i + 1, 0) ? 1 : 0;
    num_same_question += numbers == of(i, 2) ? 1 : 0;
    rubric.own_numbers = "fall 2027";
    num_same_year += numbers == of(i, 0) ? 1 : 0;
    rubric.own_numbers = "fall 2026";
  }
  CHECK(sources == std::set<int>{0, 1, 2, 3});
  CHECK(factors.size() == 18);
  CHECK(*factors.begin() == 2);
  for (const int num_same : {num_same_next, num_same_question, num_same_year})
    CHECK(num_same < kStudents / 20);  // one in 72 by chance
}

TEST_CASE("without own numbers, or an id, they are the handout's") {
  Rubric rubric = two_questions();
  const QuestionNumbers handout = {{"src", 1}, {"factor", 10}};
  CHECK(read_numbers(rubric, rubric.manuals[0], " ") == handout);
  rubric.own_numbers.clear();
  CHECK(read_numbers(rubric, rubric.manuals[0], "s1") == handout);
  CHECK(question_with(rubric.manuals[0], handout) == "`src = 1` and 10 * 10 of {other}");
  CHECK(list_questions(rubric, "s1").find("Q1: `src = 1` and 10 * 10 of {other}\nQ1: ") == 0);
  CHECK(list_questions(rubric, "s1").find("which everybody has") != std::string::npos);
}

TEST_CASE("a student's questions, for reading") {
  Rubric rubric = two_questions();
  CHECK(list_questions(rubric, "s1\x1B[2J").find("\x1B") == std::string::npos);
  CHECK(list_questions(rubric, "s1").find("These are the numbers of s1, in place of") != std::string::npos);
  rubric.manuals = {RubricManual()};
  CHECK_THROWS_WITH_AS(list_questions(rubric, "s1"),
                       "b1_total: expected a lab with numbers in its written questions, got one without", UsageError);
}

}  // namespace
}  // namespace lab
