#include "common/checks/check_report.h"

#include <nlohmann/json.hpp>

#include "common/api/errors.h"
#include "common/checks/check_run.h"
#include "common/checks/score.h"
#include "common/checks/verdict_json.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

namespace lab::testing {
namespace {

CaseVerdict verdict_with(const std::string& name, Worth worth, const std::string& reason = "") {
  CaseVerdict verdict{name, worth, reason};
  verdict.task = "a0.task";
  verdict.ranks.resize(2);
  verdict.ranks[0].reason = reason;
  return verdict;
}

TaskOutcome find_check(const std::vector<CaseVerdict>& checks) {
  return make_outcomes(checks).front();
}

/// The case, blamed for the end of its world.
CaseVerdict stuck(CaseVerdict checked) {
  if (checked.passed()) checked.worth = Worth::kFailed;
  checked.failure = "deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0";
  checked.failure_code = 6;
  checked.rank_lines = {"rank 0 waits", "rank 1 waits"};
  return checked;
}

TEST_CASE("the JSON of a check has its timeline, if there is one") {
  CaseVerdict drawn = verdict_with("Drawn", Worth::kFailed, "x");
  drawn.timeline = R"({"ranks": 2})";
  const auto json = nlohmann::json::parse(check_json({find_check({drawn, verdict_with("Not", Worth::kFailed)})}));
  CHECK(json[0]["checks"][0]["timeline"]["ranks"] == 2);
  CHECK_FALSE(json[0]["checks"][1].contains("timeline"));
}

const CaseVerdict kRight = verdict_with("Right", Worth::kPassed);

TEST_CASE("a task that is right is one line") {
  const TaskOutcome check = find_check({kRight, kRight});
  CHECK(check_text(check) == "a0.task: 2 of 2 checks right on 2 ranks\n");
  CHECK(check.passed());
  CHECK(choose_exit_code(check) == 0);
}

TEST_CASE("the largest case of which it is known what one process does gets a line about how the ranks shared it") {
  CaseVerdict small = kRight, large = kRight;
  small.of_one_process = {100, {}, {10'000, 10'000, 0, 0}};
  large.name = "Large";
  large.of_one_process = {2000, {80, 0}, {200'000, 200'000, 0, 0}};
  for (RankVerdict& rank : large.ranks) rank.used = {1000, {60, 0}, {125'000, 100'000, 20'000, 5'000}};
  CHECK(check_text(find_check({small, large, kRight})) ==
        "a0.task: 3 of 3 checks right on 2 ranks\n"
        "  Large: speed-up 1.60 of 2 | work 2.00 | waiting 16 % | peak 0.75 of serial\n");
  large.worth = Worth::kFailed;
  CHECK_FALSE(contains(check_text(find_check({small, large})), "speed-up"));
}

TEST_CASE("the score of a right case: its own figures, the reference's and the bound, where they are known") {
  CaseVerdict scored = kRight, wrong = verdict_with("Wrong", Worth::kFailed), silent = kRight;
  scored.name = "Scored";
  scored.used = {1'500'000, 4096, 1000, 5000};
  scored.limits.bytes_sent = 8192;
  wrong.used = {1, 2, 3, 4};
  silent.name = "Silent";
  const TaskOutcome check = find_check({scored, wrong, silent});
  CHECK(score_text(check, {{"Scored", {1'000'000, 4096, 2000, 4000}}}) ==
        "  Scored                              yours      reference        at most\n"
        "    model time, us                      1.5            1.0              -\n"
        "    bytes sent                         4096           4096           8192\n"
        "    peak tensor bytes                  1000           2000              -\n"
        "    floating-point ops                 5000           4000              -\n");
  CHECK(contains(score_text(check, {}), "    bytes sent                         4096              -           8192\n"));
  CHECK(list_figures({check}).size() == 1);
}

TEST_CASE("figures survive being written and read; anything else is refused") {
  const FiguresByCase figures = {{"One", {1, 2, 3, 4}}, {"Two", {CaseFigures::kAny, 0, 7, 0}}};
  const FiguresByCase read = figures_from(text_of_figures(figures));
  REQUIRE(read.size() == 2);
  CHECK(read.at("Two").model_time_ps == CaseFigures::kAny);
  CHECK(read.at("One").peak_bytes == 3);
  CHECK(figures_from(text_of_figures({})).empty());
  for (const char* text : {"", "{", "[]x", R"({"One": [1, 2]})", R"({"One": "1"})", R"({"One": [1, 2, "x"]})"})
    CHECK_THROWS_AS(figures_from(text), UsageError);
  CHECK_THROWS_AS(load_figures("/nowhere/figures.json"), UsageError);
}

TEST_CASE("what is wrong, costly or skipped is told apart, with the likely cause below") {
  CaseVerdict wrong = verdict_with("Wrong", Worth::kFailed, "rank 0, result 'out' is missing");
  wrong.symptom = Symptom{"zeros", "nothing was written"};
  const CaseVerdict costly = verdict_with("Costly", Worth::kTooExpensive, "rank 0: 3 calls of all_gather");
  const CaseVerdict skipped = verdict_with("Skipped", Worth::kSkipped, "too few heads");
  const TaskOutcome check = find_check({kRight, wrong, costly, skipped});
  CHECK(check_text(check) ==
        "a0.task: 1 of 3 checks right on 2 ranks\n"
        "  wrong    Wrong: rank 0, result 'out' is missing\n"
        "           likely: nothing was written\n"
        "  costly   Costly: rank 0: 3 calls of all_gather\n");
  CHECK(choose_exit_code(check) == 1);
  CHECK(find_check({kRight, skipped}).passed());
  const TaskOutcome all_skipped = find_check({skipped});
  CHECK(check_text(all_skipped) == "a0.task: skipped on 2 ranks: too few heads\n");
  CHECK_FALSE(all_skipped.passed());
  CHECK(choose_exit_code(all_skipped) == 0);
}

TEST_CASE("checks that repeat one cause are told once, and named") {
  const auto wrong = [](const std::string& name, const std::string& message, const std::string& likely) {
    CaseVerdict checked = verdict_with(name, Worth::kFailed, "rank 0, " + message);
    if (!likely.empty()) checked.symptom = Symptom{"zeros", likely};
    return checked;
  };
  CHECK(check_text(find_check({wrong("A", "expected 1, got 0", "nothing was written"), wrong("B", "too large", ""),
                               wrong("C", "expected 5, got 0", "nothing was written"), wrong("D", "too large", ""),
                               wrong("E", "expected 7, got 0", "nothing was written"), wrong("F", "too small", "")})) ==
        "a0.task: 0 of 6 checks right on 2 ranks\n"
        "  wrong    A: rank 0, expected 1, got 0\n"
        "           likely: nothing was written\n"
        "           and 2 more checks say the same: C E\n"
        "  wrong    B: rank 0, too large\n"
        "           and 1 more check says the same: D\n"
        "  wrong    F: rank 0, too small\n");
}

TEST_CASE("a TODO names the task that was asked for and the TODO that was reached") {
  CaseVerdict todo = verdict_with("Todo", Worth::kNotImplemented);
  todo.ranks[1].end = CaseEnd::kNotImplemented;
  todo.ranks[1].missing_task = "a0.helper";
  const TaskOutcome check = find_check({kRight, stuck(todo)});
  CHECK(check_text(check) == "a0.task: not implemented: stops at TODO(a0.helper)\n");
  CHECK(choose_exit_code(check) == 3);  // whatever became of the ranks that waited
}

TEST_CASE("a world that failed is quoted at the case that is to blame, and at no other") {
  CaseVerdict hangs = stuck(verdict_with("Stuck", Worth::kFailed, "rank 0: deadlock"));
  hangs.symptom = Symptom{"deadlock", "ranks wait for each other"};
  const CaseVerdict after = verdict_with("After", Worth::kFailed, "rank 0, result 'out' is missing");
  const TaskOutcome check = find_check({kRight, hangs, after});
  CHECK(check_text(check) ==
        "a0.task: 1 of 3 checks right on 2 ranks\n"
        "  failed   Stuck: deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n"
        "           rank 0 waits\n"
        "           rank 1 waits\n"
        "           likely: ranks wait for each other\n"
        "  wrong    After: rank 0, result 'out' is missing\n");
  CHECK(choose_exit_code(check) == 6);
  const TaskOutcome at_the_end = find_check({stuck(kRight)});
  CHECK_FALSE(at_the_end.passed());
  CHECK(check_text(at_the_end) ==
        "a0.task: 0 of 1 checks right on 2 ranks\n"
        "  failed   Right: after it had returned: deadlock: rank 0 waits for rank 1, rank 1 waits for rank 0\n"
        "           rank 0 waits\n"
        "           rank 1 waits\n");
}

TEST_CASE("the JSON has for each task what became of it and of its checks") {
  CaseVerdict wrong = verdict_with("Wrong", Worth::kFailed, "rank 0, result 'out' is missing");
  wrong.symptom = Symptom{"zeros", "nothing was written"};
  const auto document = nlohmann::json::parse(check_json({find_check({kRight}), find_check({kRight, wrong})}));
  REQUIRE(document.size() == 2);
  CHECK(document[0]["task"] == "a0.task");
  CHECK(document[0]["passed"] == true);
  CHECK(document[1]["passed"] == false);
  CHECK(document[1]["exit_code"] == 1);
  CHECK(document[1]["ranks"] == 2);
  CHECK(document[1]["message"] == "1 of 2 checks right on 2 ranks");
  CHECK(document[1]["checks"][0]["passed"] == true);
  CHECK(document[1]["checks"][1]["name"] == "Wrong");
  CHECK(document[1]["checks"][1]["message"] == "rank 0, result 'out' is missing");
  CHECK(document[1]["checks"][1]["symptom"] == "zeros");
  CHECK(document[1]["checks"][1]["likely"] == "nothing was written");
}

TEST_CASE("figures as JSON and back, also where they may be any") {
  const CaseFigures some = {1, CaseFigures::kAny, 3, CaseFigures::kAny};
  const nlohmann::json written = some;
  CHECK(written == nlohmann::json({{"model_time_ps", 1}, {"peak_tensor_bytes", 3}}));
  const auto read = written.get<CaseFigures>();
  CHECK(read.model_time_ps == 1);
  CHECK(read.bytes_sent == CaseFigures::kAny);
  CHECK(read.peak_bytes == 3);
  CHECK_THROWS_AS(nlohmann::json({{"flops", "many"}}).get<CaseFigures>(), UsageError);
}

TEST_CASE("verdicts keep in another process all that is said of them there") {
  CaseVerdict verdict{"Name", Worth::kTooExpensive, "rank 1: 3 calls", {"id", "likely"}, {1, 2, 3, 4}, {5, 6, 7, 8}};
  verdict.timeline = "{}";
  verdict.task = "a0.task";
  verdict.ranks = {
      {CaseEnd::kThrew, Worth::kNotImplemented, "thrown", "a0.helper", 7, {9, {10, 11}, {12, 13, 14, 15}}}};
  verdict.of_one_process = {16, {17, 18}, {19, 20, 21, 22}};
  verdict.failure = "deadlock";
  verdict.failure_code = 6;
  verdict.rank_lines = {"rank 0 waits"};
  const auto read = nlohmann::json::parse(nlohmann::json(verdict).dump()).get<CaseVerdict>();
  const auto figures = [](const CaseFigures& f) {
    return std::vector<std::int64_t>{f.model_time_ps, f.bytes_sent, f.peak_bytes, f.flops};
  };
  const auto used = [](const ResourceUse& use) {
    const ModelTime& time = use.model_time;
    return std::vector<std::int64_t>{
        use.flops,    use.memory.peak_bytes, use.memory.retained_bytes, time.total, time.work,
        time.waiting, time.overhead};
  };
  CHECK(read.name == "Name");
  CHECK((read.worth == Worth::kTooExpensive));
  CHECK(read.reason == "rank 1: 3 calls");
  CHECK(read.symptom.id == "id");
  CHECK(read.symptom.message == "likely");
  CHECK(figures(read.used) == std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK(figures(read.limits) == std::vector<std::int64_t>{5, 6, 7, 8});
  CHECK(read.timeline == "{}");
  CHECK(read.task == "a0.task");
  CHECK(read.failure == "deadlock");
  CHECK(read.failure_code == 6);
  CHECK(read.rank_lines == verdict.rank_lines);
  CHECK(used(read.of_one_process) == std::vector<std::int64_t>{16, 17, 18, 19, 20, 21, 22});
  REQUIRE(read.ranks.size() == 1);
  CHECK((read.ranks[0].end == CaseEnd::kThrew));
  CHECK((read.ranks[0].worth == Worth::kNotImplemented));
  CHECK(read.ranks[0].reason == "thrown");
  CHECK(read.missing_task().empty());  // it threw
  CHECK(read.ranks[0].missing_task == "a0.helper");
  CHECK(read.ranks[0].exit_code == 7);
  CHECK(used(read.ranks[0].used) == std::vector<std::int64_t>{9, 10, 11, 12, 13, 14, 15});
  nlohmann::json unknown = verdict;
  unknown["worth"] = "splendid";
  CHECK_THROWS_AS(unknown.get<CaseVerdict>(), std::runtime_error);
}

TEST_CASE("the summary counts what is right, to be done, and skipped") {
  Summary summary;
  summary.add(true, false, false);
  CHECK(summary.text() == "1 of 1 tasks right\n");
  summary.add(false, true, false);
  summary.add(false, false, true);
  summary.add(false, false, false);
  CHECK(summary.text() == "1 of 4 tasks right, 1 not implemented, 1 skipped\n");
}

}  // namespace
}  // namespace lab::testing
