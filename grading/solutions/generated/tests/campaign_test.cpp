#include "grading/solutions/generated/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "common/api/errors.h"
#include "common/testing/test.h"
#include "grading/solutions/generated/fates_report.h"

namespace {

using namespace lab;
using namespace lab::grading::generated;

const char* const kFile =
    "int f(int a, int b) {\n// BEGIN SOLUTION t.one\n// STUB return 0;\nreturn a + b;\n// END SOLUTION t.one\n}\n";

/// A lab of two cases, whose trial program is a function.
struct SmallLab {
  SmallLab() {
    mutants.lab = "t1";
    std::vector<lab::grading::Solution> solutions(7);
    std::vector<NumberedRow> rows;
    for (int id = 1; id <= 7; ++id) {
      lab::grading::Solution& one = solutions[static_cast<std::size_t>(id - 1)];
      one.task = "t.one";
      one.rule = "number";
      one.what = fmt::format("a + b -> {}", id);
      rows.push_back({id, &one, {{"t1_lab/student/f.cpp", 0, {}, "a + b", std::to_string(id)}}});
    }
    mutants.sources.push_back(
        std::make_unique<MutatedSource>("student/f.cpp", kFile, std::set<std::string>{"t.one"}, rows));
    for (const char* name : {"First", "Second"}) {
      Case one;
      one.task = "t.one";
      one.name = name;
      cases.push_back(one);
    }
  }

  std::vector<Fate> run(const std::vector<int>& ids, const std::map<int, std::string>& left_out = {}) {
    Campaign campaign{cases, {{4}, {2}}, mutants, equivalents, "t1_lab", 2, 42, {}, {}, [](const std::string&) {}};
    campaign.perform = [&](const TrialOrder& order) {
      std::vector<TrialReport> reports;
      for (const Trial& trial : order.trials) {
        TrialReport report;
        report.id = trial.id;
        for (const int index : trial.runs) {
          const TrialRun& place = order.runs[static_cast<std::size_t>(index)];
          OrdersReport one = behave(trial.id, place);
          one.run = index;
          if (trial.id != 0) ++times[{trial.id, place.case_index, place.num_ranks, place.seed}];
          if (order.notes_places) one.places = {1, 2, 3, 4, 5, 6};
          report.runs.push_back(one);
          if (trial.until == Trial::Until::kWrong && !one.right) break;
        }
        reports.push_back(report);
      }
      return reports;
    };
    campaign.judge = [&](const auto& some) {
      std::vector<lab::grading::Verdict> judged;
      for (const auto& [id, tasks] : some) {
        CHECK(tasks == std::set<std::string>{"t.one"});
        judged.push_back({id == 4, "", "late"});
      }
      return judged;
    };
    return campaign.run(ids, left_out);
  }

  /// 1: wrong at once. 2: wrong on 2 ranks. 3: more work. 4: the same, but the judge catches it. 5, 6: the same.
  OrdersReport behave(int id, const TrialRun& place) const {
    OrdersReport one;
    one.right =
        !(reference_fails && id == 0) && !(id == 1 && place.case_index == 1) && !(id == 2 && place.num_ranks == 2);
    one.how = one.right ? "" : "wrong";
    one.fingerprint = {{"results", "r"}, {"work", id == 3 && place.num_ranks == 7 ? "9" : "5"}};
    return one;
  }

  LabMutants mutants;
  std::vector<Case> cases;
  std::vector<Equivalent> equivalents;
  bool reference_fails = false;
  std::map<std::tuple<int, int, int, std::uint64_t>, int> times;  ///< how often a mutant performed a run
};

}  // namespace

TEST_CASE("generated campaign: what each stage catches, and what nothing does") {
  SmallLab lab;
  REQUIRE(lab.mutants.all().size() >= 7);
  lab.equivalents.push_back({"t1_lab/student/f.cpp", "return a + b;", lab.mutants.find(6)->rule,
                             lab.mutants.find(6)->what, "adding is like this"});
  const std::vector<Fate> fates = lab.run({1, 2, 3, 4, 5, 6, 7}, {{7, "no"}});
  using Kind = Fate::Kind;
  REQUIRE(fates.size() == 7);
  CHECK(fates[0].kind == Kind::kByCheck);
  CHECK(fates[0].by.find("Second on 4 ranks: wrong") == 0);
  CHECK(fates[1].kind == Kind::kByCheck);
  CHECK(fates[1].by.find("First on 2 ranks") == 0);
  CHECK(fates[2].kind == Kind::kSurvived);
  CHECK(fates[2].differs == std::set<std::string>{"work"});
  CHECK(fates[2].differs_at == "First on 7 ranks: work 5 -> 9");
  CHECK(fates[3].kind == Kind::kByJudge);
  CHECK(fates[4].kind == Kind::kEqual);
  CHECK(fates[4].reason.empty());
  CHECK(fates[5].kind == Kind::kEqual);
  CHECK(fates[5].reason == "adding is like this");
  CHECK(fates[6].kind == Kind::kNotCompiled);

  CHECK(std::all_of(lab.times.begin(), lab.times.end(), [](const auto& run) { return run.second == 1; }));
  for (const std::uint64_t seed : {42, 43}) {
    for (int num_ranks = 1; num_ranks <= 8; ++num_ranks) CHECK(lab.times[{5, 0, num_ranks, seed}] == 1);
  }

  const Tally tally = count_fates(fates);
  CHECK(tally.made == 7);
  CHECK(tally.compiled == 6);
  CHECK(tally.check_share() == 40.0);  // of five that are not equivalent
  CHECK(tally.judge_share() == 60.0);  // the unexplained one counts as not caught
  CHECK(tally.equivalent_share() == doctest::Approx(100.0 / 6));
  const std::string text = text_of_survivors("t1_lab", "t1", fates);
  CHECK(text.find("differ in work: 1") != std::string::npos);
  CHECK(text.find("equal, no reason given: 1") != std::string::npos);
  CHECK(text.find("t1:3  t1_lab/student/f.cpp:4") != std::string::npos);
  CHECK(text.find("t1:1 ") == std::string::npos);
}

TEST_CASE("generated campaign: of all mutants a share must be reached, of a sample it may be missed by chance") {
  CHECK(is_share_at_least(90, 90, 100, false));
  CHECK_FALSE(is_share_at_least(90, 89, 100, false));
  CHECK(is_share_at_least(90, 14, 16, true));        // 87.5 %: in 49 samples of 100 there are no more
  CHECK(is_share_at_least(90, 12, 16, true));        // 7 of 100
  CHECK_FALSE(is_share_at_least(90, 10, 16, true));  // 3 of 1000
  CHECK(is_share_at_least(100, 16, 16, true));
  CHECK_FALSE(is_share_at_least(100, 15, 16, true));
  CHECK(is_share_at_least(98, 0, 0, true));
  CHECK(is_share_at_least(-1, 0, 10, true));  // nothing is expected
}

TEST_CASE("generated campaign: a reference that fails is an error") {
  SmallLab lab;
  lab.reference_fails = true;
  CHECK_THROWS_AS(lab.run({1}), UsageError);
}
