#include "grading/regenerate/plan_tables.h"

#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "grading/regenerate/lab_files.h"

namespace lab::grading {
namespace {

using testing::get_message;

constexpr char kPlan[] = R"(# A course

| lab | tasks | marks by machine | by hand | bonus | hours | bonus hours |
|---|---|---|---|---|---|---|
| `a0` | ? | ? | ? | ? | 6 | |
| `b1` | 8 | 74 | 26 | 0 | 11 | 0 |

| task | teaches |
|---|---|
| `a0.valve` | a | b |
)";

TEST_CASE("the plan's cells are derived, and everything else stays as it is") {
  LabNumbers numbers;
  numbers.required_tasks = 6;
  numbers.bonus_tasks = 2;
  numbers.marks = 99.5;
  numbers.marks_by_hand = 0.5;
  numbers.bonus_marks = 20;
  numbers.hours = 6.7;  // near what is written
  numbers.bonus_hours = 1.2;
  std::string expected = kPlan;
  const std::string row = "| `a0` | ? | ? | ? | ? | 6 | |";
  expected.replace(expected.find(row), row.size(), "| `a0` | 6 + 2 | 99.5 | 0.5 | 20 | 6 | 1 |");
  CHECK(with_plan(kPlan, {{"a0", numbers}}) == expected);
  numbers.hours = 6.8;
  CHECK(with_plan(kPlan, {{"a0", numbers}}).find("| 20 | 7 | 1 |") != std::string::npos);
  CHECK(get_message([&] {
          with_plan(kPlan, {{"c2", numbers}});
        }) == "SYLLABUS.md: expected a row that begins '| `c2` |' in the table 'lab', got none");
}

TEST_CASE("the plan's lessons are derived: what teaches the same stands in one row") {
  Rubric rubric;
  rubric.lab = "a0_water";
  rubric.tasks.resize(4);
  CHECK(with_lessons(kPlan, rubric) == kPlan);
  const std::vector<std::pair<std::string, std::string>> tasks = {
      {"valve", "flow"}, {"tap", ""}, {"pump", "head"}, {"siphon", "flow"}};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    rubric.tasks[i].id = "a0." + tasks[i].first;
    rubric.tasks[i].teaches = tasks[i].second;
  }
  rubric.manuals.resize(1);
  rubric.manuals[0].id = "a0.essay";
  std::string expected = kPlan;
  const std::string row = "| `a0.valve` | a | b |\n";
  expected.replace(expected.find(row), row.size(),
                   "| `a0.valve`, `a0.tap`, `a0.siphon`, `a0.essay` | flow |\n| `a0.pump` | head |\n");
  CHECK(with_lessons(kPlan, rubric) == expected);
  CHECK(with_lessons(expected + "\nmore\n", rubric) == expected + "\nmore\n");
  rubric.lab = "b1_total";
  CHECK(get_message([&] { with_lessons(kPlan, rubric); }) ==
        "SYLLABUS.md: expected a table 'task | teaches' with a row that begins '| `b1.', got none");
}

TEST_CASE("the README's table of labs has the plan's tasks and hours") {
  const std::string readme =
      "text\n\n| folder | short | what | tasks | hours | first |\n|---|---|---|---|---|---|\n"
      "| [b](b) | `b1` | code | 1 | 2 + 3 | |\n";
  CHECK(with_labs(readme, kPlan) ==
        "text\n\n| folder | short | what | tasks | hours | first |\n|---|---|---|---|---|---|\n"
        "| [b](b) | `b1` | code | 8 | 11 | |\n");
  CHECK(get_message([&] { with_labs("| folder | short |\n|---|---|\n| [c](c) | `c2` |\n", kPlan); }) ==
        "README.md: the table of labs has a row `c2`, but SYLLABUS.md has none");
}

TEST_CASE("figures may differ by what processors and versions of LibTorch make of them") {
  const std::string recorded = R"({"Ring": [1000, 64, 4000, 100]})";
  const auto differs = [&](const std::string& now, bool other_libtorch = false) {
    return !differing_figures(recorded, R"({"Ring": )" + now + "}", other_libtorch).empty();
  };
  CHECK_FALSE(differs("[1010, 64, 5000, 101]"));
  CHECK_FALSE(differs("[1000, 64, 1000, 100]"));
  CHECK(differs("[1011, 64, 4000, 100]"));
  CHECK(differs("[1000, 65, 4000, 100]"));
  CHECK(differs("[1000, 64, 5001, 100]"));
  CHECK(differs("[1000, 64, 999, 100]"));
  CHECK(differs("[1000, 64, 4000, 102]"));
  CHECK_FALSE(differs("[1000, 64, 65536, 116]", true));
  CHECK(differing_figures(recorded, R"({"Tree": [1, 1, 1, 1]})", false) == "Tree is not recorded");
  CHECK(differing_figures(recorded, "{}", false) == "Ring is recorded, but there is no such case");
  CHECK(differing_figures("", recorded, false) == "expected a JSON object, got something else");
}

}  // namespace
}  // namespace lab::grading
