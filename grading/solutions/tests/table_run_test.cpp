#include "grading/solutions/table_run.h"

#include <memory>

#include "common/api/errors.h"
#include "common/testing/test.h"

namespace lab::grading {
namespace {

using namespace generated;

const char* const kFile =
    "int f(int a, int b) {\n// BEGIN SOLUTION t.one\n// STUB return 0;\nreturn a + b;\n// END SOLUTION t.one\n}\n";

/// A lab of two tasks with a case each, whose trial program is a function: a row whose what is "First:sign 4" is wrong in
/// the case First on 4 ranks, and looks like that symptom.
struct SmallLab {
  SmallLab() {
    for (const char* id : {"t.one", "t.two"}) {
      rubric.tasks.emplace_back();
      rubric.tasks.back().id = id;
      cases.emplace_back();
      cases.back().task = id;
      cases.back().name = cases.size() == 1 ? "First" : "Second";
    }
  }

  Verdict verdict(const Solution& one) {
    rows = {one};
    LabMutants mutants;
    mutants.sources.push_back(std::make_unique<MutatedSource>(
        "student/f.cpp", kFile, std::set<std::string>{"t.one"},
        std::vector<NumberedRow>{{1, &rows[0], {{"t_lab/student/f.cpp", 0, {}, "a + b", "0"}}}}));
    TableRun run{cases, rubric, rows, mutants, {4, 3, 6}, {4, 3}, {{4, 3, 6}, {}}, 2, {}};
    run.perform = [&](const TrialOrder& order) { return performed(order); };
    return run.run({1}).front();
  }

  std::vector<TrialReport> performed(const TrialOrder& order) const {
    std::vector<TrialReport> reports;
    for (const Trial& trial : order.trials) {
      TrialReport report;
      report.id = trial.id;
      for (const int index : trial.runs) {
        const TrialRun& place = order.runs[static_cast<std::size_t>(index)];
        const std::string& name = cases[static_cast<std::size_t>(place.case_index)].name;
        OrdersReport one;
        one.run = index;
        one.right = true;
        if (order.notes_places && reaches) one.places = {1};
        if (trial.id == 0) one.right = !reference_fails;
        for (const char* symptom : {"sign", "zeros"}) {
          if (trial.id == 0 ||
              rows[0].what.find(name + ":" + symptom + " " + std::to_string(place.num_ranks)) == std::string::npos)
            continue;
          one.right = false;
          one.how = "wrong";
          one.symptom = symptom;
        }
        report.runs.push_back(one);
        if (!one.right && (trial.until == Trial::Until::kWrong ||
                           (trial.until == Trial::Until::kSymptom && one.symptom == trial.symptom)))
          break;
      }
      reports.push_back(report);
    }
    return reports;
  }

  std::vector<Case> cases;
  Rubric rubric;
  std::vector<Solution> rows;
  bool reaches = true, reference_fails = false;
};

Solution wrong(const std::string& what, const std::string& symptom = "") {
  Solution one;
  one.task = "t.one";
  one.what = what;
  one.symptom = symptom;
  return one;
}

TEST_CASE("table run: a wrong row must be caught by its task, on some size, with its cause") {
  SmallLab lab;
  CHECK(lab.verdict(wrong("First:sign 4")).as_required);
  CHECK(lab.verdict(wrong("First:sign 6")).as_required);
  CHECK(lab.verdict(wrong("")).complaint == "t.one did not catch it");
  CHECK(lab.verdict(wrong("First:sign 4", "sign")).as_required);
  CHECK(lab.verdict(wrong("First:zeros 4 First:sign 3", "sign")).as_required);
  CHECK(lab.verdict(wrong("First:zeros 4", "sign")).complaint == "expected the symptom sign, got zeros");
  lab.reaches = false;
  CHECK(lab.verdict(wrong("First:sign 4")).complaint == "no case of t.one reaches it");
}

TEST_CASE("table run: a wrong row costs no other task its marks but those that need it or that it names") {
  SmallLab lab;
  Solution one = wrong("First:sign 4 Second:sign 3");
  CHECK(lab.verdict(one).complaint.find("t.two lost marks, too (Second on 3 ranks: wrong") == 0);
  one.also = {"t.two"};
  CHECK(lab.verdict(one).as_required);
  one.also.clear();
  lab.rubric.tasks[1].needs = {"t.one"};
  CHECK(lab.verdict(one).as_required);
  one.alone = true;
  CHECK_FALSE(lab.verdict(one).as_required);
}

TEST_CASE("table run: the checks that a row names must fail, and a right row must pass all") {
  SmallLab lab;
  Solution one = wrong("First:sign 4");
  one.checks = {"First"};
  CHECK(lab.verdict(one).as_required);
  one.checks = {"First", "Other"};
  CHECK(lab.verdict(one).complaint == "expected Other to fail, got First");
  one.checks.clear();
  one.says = "wrong";
  CHECK(lab.verdict(one).as_required);
  one.says = "bytes";
  CHECK(lab.verdict(one).complaint == "expected a check to say 'bytes', got 'First on 4 ranks: wrong: '");
  Solution right;
  right.right = true;
  CHECK(lab.verdict(right).as_required);
  right.what = "Second:zeros 3";
  CHECK(lab.verdict(right).complaint.find("t.two lost marks (Second on 3 ranks") == 0);
}

TEST_CASE("table run: a reference that fails is an error") {
  SmallLab lab;
  lab.reference_fails = true;
  CHECK_THROWS_AS(lab.verdict(wrong("First:sign 4")), UsageError);
}

}  // namespace
}  // namespace lab::grading
