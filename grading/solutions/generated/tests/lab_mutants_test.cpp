#include "grading/solutions/generated/lab_mutants.h"

#include <filesystem>
#include <fstream>

#include "common/api/errors.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/plain_test.h"
#include "grading/solutions/generated/trials/orders.h"

namespace {

using namespace lab;
using namespace lab::grading::generated;

}  // namespace

TEST_CASE("generated mutants: a sample is the same for a seed, in order, and another for another") {
  const std::vector<std::size_t> sample = take_sample(1000, 20, 7);
  CHECK(sample.size() == 20);
  CHECK(std::is_sorted(sample.begin(), sample.end()));
  CHECK(std::adjacent_find(sample.begin(), sample.end()) == sample.end());
  CHECK(sample == take_sample(1000, 20, 7));
  CHECK(sample != take_sample(1000, 20, 8));
  CHECK(take_sample(3, 5, 1) == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("generated mutants: an equivalent one is named by its line, and a reason is required") {
  const launch::RunDirectory folder;
  const std::string path = folder.path() + "/equivalent.toml";
  std::ofstream(path)
      << "[[equivalent]]\nfile = \"a9/student/x.cpp\"\nline = \"f(a, b);\"\nrule = \"rank\"\nwhy = \"same\"\n";
  const std::vector<Equivalent> list = load_equivalents(path);
  SourceMutant mutant;
  mutant.file = "student/x.cpp";
  mutant.line_text = "f(a, b);";
  mutant.rule = "rank";
  CHECK(find_reason(list, "a9", mutant) == "same");
  CHECK(find_reason(list, "a5", mutant).empty());
  mutant.rule = "size";
  CHECK(find_reason(list, "a9", mutant).empty());
  std::ofstream(path) << "[[equivalent]]\nfile = \"a\"\nline = \"b\"\nwhy = \"\"\n";
  CHECK_THROWS_AS(load_equivalents(path), UsageError);
}

TEST_CASE("generated mutants: orders and reports survive the way between two programs") {
  TrialOrder order;
  order.notes_places = true;
  order.num_mutants = 9;
  order.runs = {{2, 4, 42, 0.5}};
  order.trials = {{7, {0}, Trial::Until::kSymptom, "sign"}};
  order.expected[0] = {{"work", "12 13"}};
  const auto same = from_json_text<TrialOrder>(json_text(order), "an order");
  CHECK(same.notes_places);
  CHECK(same.num_mutants == 9);
  CHECK(same.runs.at(0).case_index == 2);
  CHECK(same.runs.at(0).seconds == 0.5);
  CHECK(same.trials.at(0).id == 7);
  CHECK(same.trials.at(0).until == Trial::Until::kSymptom);
  CHECK(same.trials.at(0).symptom == "sign");
  CHECK(same.expected == order.expected);

  TrialReport report;
  report.id = 7;
  report.ended = "killed";
  OrdersReport run;
  run.how = "wrong";
  run.why = "\xff not UTF-8";
  run.places = {1, 5};
  report.runs = {run};
  const auto again = from_json_text<TrialReport>(json_text(report), "a report");
  CHECK(again.ended == "killed");
  CHECK(again.runs.at(0).places == run.places);
  CHECK(again.runs.at(0).how == "wrong");
  CHECK_THROWS_WITH_AS(from_json_text<TrialReport>(R"({"id": 7, "runs": []})", "a report"),
                       doctest::Contains("expected a report: "), UsageError);
  CHECK_THROWS_WITH_AS(from_json_text<TrialReport>(R"({"id": 7, "runs": [{"rum": 0}], "ended": ""})", "a report"),
                       doctest::Contains("'run' not found"), UsageError);
}
