#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/base/text.h"
#include "common/testing/plain_test.h"
#include "grading/marks/shown_to_student.h"
#include "grading/marks/tests/sample_marks.h"
#include "grading/marks/writers.h"

namespace lab::grading {
namespace {

using Json = nlohmann::json;
using testing::a_manual;
using testing::a_task;
using testing::judged;

/// A task that is right, one that is half right, a bonus that is wrong, and a manual item that waits.
struct Graded {
  Rubric rubric;
  LabOutcome outcome;
  LabMarks marks() const { return compute_marks(rubric, outcome, {}); }
  Json json() const { return Json::parse(to_gradescope_json(marks(), outcome)); }
};

Graded a_grading() {
  Graded graded;
  graded.rubric.lab = "a9_collectives";
  graded.rubric.total = 30;
  graded.rubric.tasks = {a_task("a9.x", 10), a_task("a9.y", 5), a_task("a9.z", 2)};
  graded.rubric.tasks[2].bonus = true;
  graded.rubric.manuals = {a_manual("a9.written_q1", 15, "answers.md")};
  graded.rubric.manuals[0].numbers = {{"src", 1, 0, 3}, {"factor", 10, 2, 19}};
  graded.outcome.tasks = {{"a9.x", judged("a9.x", {Worth::kPassed})},
                          {"a9.y", judged("a9.y", {Worth::kPassed, Worth::kFailed, Worth::kSkipped, Worth::kFailed})},
                          {"a9.z", judged("a9.z", {Worth::kTooExpensive})}};
  graded.outcome.tasks["a9.y"].checks[1].symptom.id = "divided_by_world_size";
  graded.outcome.answers["answers.md"] = "nothing";
  graded.outcome.seconds = 12.5;
  graded.outcome.isolation = "bubblewrap: no network";
  graded.outcome.seed = "--seed 123";
  graded.outcome.notes = {"a9_collectives/student/extra.cpp is not asked for"};
  return graded;
}

TEST_CASE("Gradescope: every field of the format is there, and the score is the sum of the tests'") {
  const Json results = a_grading().json();
  for (const char* field :
       {"score", "execution_time", "output", "output_format", "test_output_format", "test_name_format", "visibility",
        "stdout_visibility", "extra_data", "tests", "leaderboard"})
    CHECK_MESSAGE(results.contains(field), field);
  double sum = 0;
  for (const Json& test : results["tests"]) {
    for (const char* field : {"score", "max_score", "name", "name_format", "number", "output", "output_format", "tags",
                              "visibility", "extra_data"})
      CHECK_MESSAGE(test.contains(field), field);
    sum += test["score"].get<double>();
  }
  CHECK(results["score"].get<double>() == sum);
  CHECK(sum == doctest::Approx(10 + 5.0 / 3).epsilon(1e-12));
  CHECK(results["execution_time"] == 12.5);
  CHECK(results["extra_data"]["seed"] == "--seed 123");
  CHECK(results["extra_data"]["pending"] == 15);
  CHECK(results["output"] ==
        "A9: 11.6 of 30, 15 pending\nisolation: bubblewrap: no network\nsame inputs again: --seed 123\n\n"
        "a9_collectives/student/extra.cpp is not asked for\n");
}

/// What breaks the rules of the format: a field that it does not have, or a value of another type or outside its list.
std::vector<std::string> violations(const Json& results) {
  static const Json kVisibility = {"visible", "hidden", "after_due_date", "after_published"};
  static const Json kFormat = {"text", "html", "simple_format", "md", "ansi"};
  static const Json kResults = {{"score", 0},
                                {"execution_time", 0},
                                {"output", ""},
                                {"output_format", kFormat},
                                {"test_output_format", kFormat},
                                {"test_name_format", kFormat},
                                {"visibility", kVisibility},
                                {"stdout_visibility", kVisibility},
                                {"extra_data", Json::object()},
                                {"tests", nullptr},
                                {"leaderboard", nullptr}};
  static const Json kTest = {{"score", 0},
                             {"max_score", 0},
                             {"status", Json{"passed", "failed"}},
                             {"name", ""},
                             {"name_format", kFormat},
                             {"number", ""},
                             {"output", ""},
                             {"output_format", kFormat},
                             {"tags", nullptr},
                             {"visibility", kVisibility},
                             {"extra_data", Json::object()}};
  std::vector<std::string> found;
  const auto check = [&](const Json& object, const Json& schema) {
    for (const auto& [field, value] : object.items()) {
      if (!schema.contains(field)) {
        found.push_back("unknown field " + field);
        continue;
      }
      const Json& rule = schema[field];
      const bool fits = rule.is_null()     ? value.is_array()
                        : rule.is_array()  ? std::find(rule.begin(), rule.end(), value) != rule.end()
                        : rule.is_number() ? value.is_number()
                                           : value.type() == rule.type();
      if (!fits) found.push_back(field + ": " + value.dump());
    }
  };
  check(results, kResults);
  if (!results.contains("score")) found.push_back("no score");
  for (const Json& test : results["tests"]) {
    check(test, kTest);
    for (const Json& tag : test["tags"]) {
      if (!tag.is_string()) found.push_back("tag " + tag.dump());
    }
  }
  return found;
}

TEST_CASE("Gradescope: every field is one of its format, with a value that it allows") {
  Graded graded = a_grading();
  graded.rubric.tasks[0].visibility = Visibility::kHidden;
  graded.rubric.tasks[1].visibility = Visibility::kAfterDueDate;
  graded.rubric.manuals[0].visibility = Visibility::kAfterPublished;
  graded.outcome.tasks["a9.z"] = judged("a9.z", {Worth::kNotJudged});
  Json json = graded.json();
  CHECK(violations(json) == std::vector<std::string>());
  json["tests"][0]["visibility"] = "after_due";
  json["tests"][1]["number"] = 2;
  json["tests"][2]["colour"] = "red";
  json["score"] = "12";
  CHECK(violations(json).size() == 4);
}

TEST_CASE(
    "Gradescope: visibility is the rubric's; the score counts everything, and what is visible says nothing of it") {
  Graded graded = a_grading();
  graded.rubric.tasks[0].visibility = Visibility::kHidden;
  graded.rubric.tasks[1].visibility = Visibility::kAfterPublished;
  graded.outcome.tasks["a9.z"].skipped_because = "a9.y";
  graded.outcome.notes = {"a9.y.Check1 was slow", "a9.yy is not asked for"};
  const Json json = graded.json();
  CHECK(json["score"].get<double>() == a_grading().json()["score"].get<double>());
  const Json& tests = json["tests"];
  CHECK(tests[0]["visibility"] == "hidden");
  CHECK(tests[1]["visibility"] == "after_published");
  CHECK(tests[1]["output"].get<std::string>().find("a9.y.Check1") == 0);
  CHECK(tests[2]["visibility"] == "visible");
  CHECK(tests[2]["output"].get<std::string>().find("a9.y") == std::string::npos);
  CHECK(json["output"].get<std::string>() == std::string("A9: 0 of 15, 15 pending\n") + kNotShownNote +
                                                 "\nisolation: bubblewrap: no network\nsame inputs again: --seed "
                                                 "123\n\n(not shown)\na9.yy is not asked for\n");
}

TEST_CASE("Gradescope: each test says what it is and what was found") {
  const Json tests = a_grading().json()["tests"];
  REQUIRE(tests.size() == 4);
  CHECK(tests[0]["name"] == "Title of a9.x (a9.x)");
  CHECK(tests[0]["status"] == "passed");
  CHECK(tests[0]["number"] == "1");
  CHECK(tests[0]["tags"] == Json{"task"});
  CHECK(tests[1]["status"] == "failed");
  CHECK(tests[1]["output"] ==
        "a9.y.Check1: on 4 ranks: expected 10, got 2.5\na9.y.Check3: on 4 ranks: expected 10, got 2.5\n"
        "1 of 3 checks passed");
  CHECK(tests[1]["extra_data"]["checks"][1]["symptom"] == "divided_by_world_size");
  CHECK(tests[1]["extra_data"]["state"] == "partly");
  CHECK(tests[2]["tags"] == Json{"task", "bonus"});
  // A person has not looked yet: neither passed nor failed.
  CHECK_FALSE(tests[3].contains("status"));
  CHECK(tests[3]["score"] == 0);
  CHECK(tests[3]["max_score"] == 15);
  CHECK(tests[3]["output"] == "waits for a person");
  CHECK(tests[3]["extra_data"]["attached"] == Json{"answers.md"});
}

TEST_CASE("Gradescope: whatever a program printed, the text is UTF-8, bounded, and plain") {
  Graded graded = a_grading();
  graded.outcome.tasks["a9.y"].checks[1].reason = "\xFF\xFE\x1B[31m" + std::string(100000, 'x');
  graded.outcome.notes.assign(1000, std::string("\0\xC3 <b>", 6) + std::string(100000, 'y'));
  const std::string text = to_gradescope_json(graded.marks(), graded.outcome);
  CHECK(is_utf8(text));
  CHECK(text.size() < 500000);
  CHECK(text.find('\x1B') == std::string::npos);
  const Json results = Json::parse(text);
  CHECK(results["output"].get<std::string>().find("... and 960 more") != std::string::npos);
  CHECK(results["output_format"] == "text");
  CHECK(results["tests"][1]["output_format"] == "text");
}

TEST_CASE("Gradescope: NaN and infinity never appear") {
  Graded graded = a_grading();
  graded.outcome.seconds = std::numeric_limits<double>::quiet_NaN();
  LabMarks marks = graded.marks();
  marks.items[0].marks = std::numeric_limits<double>::infinity();
  marks.pending = std::numeric_limits<double>::quiet_NaN();
  const Json results = Json::parse(to_gradescope_json(marks, graded.outcome));
  CHECK(results["execution_time"] == 0);
  CHECK(results["tests"][0]["score"] == 0);
  CHECK(results["extra_data"]["pending"] == 0);
  CHECK(results["score"].get<double>() == doctest::Approx(5.0 / 3));  // of the tests that have a score
}

TEST_CASE("gradescope: what was not judged has no score and no status, and the output says so first") {
  Graded graded = a_grading();
  graded.outcome.tasks["a9.x"] = judged("a9.x", {Worth::kNotJudged});
  const Json json = graded.json();
  const Json& test = json["tests"][0];
  CHECK_FALSE(test.contains("score"));
  CHECK_FALSE(test.contains("status"));
  CHECK(test["max_score"] == 10);
  CHECK(test["extra_data"]["state"] == "not judged");
  CHECK(test["extra_data"]["not_judged"] == 10);
  CHECK(test["extra_data"]["checks"][0]["state"] == "not judged");
  CHECK(json["extra_data"]["not_judged"] == 10);
  CHECK(json["output"].get<std::string>().find(kNotJudgedNote) != std::string::npos);
  CHECK(json["score"].get<double>() == doctest::Approx(a_grading().marks().marks - 10));
  CHECK(a_grading().json()["output"].get<std::string>().find(kNotJudgedNote) == std::string::npos);
}

}  // namespace
}  // namespace lab::grading
