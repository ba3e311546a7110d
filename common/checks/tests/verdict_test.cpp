#include "common/checks/verdict.h"

#include <cmath>

#include "common/checks/tests/small_lab.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"

namespace lab::testing {
namespace {

using ByRank = std::vector<std::optional<CaseRecord>>;

/// Each rank must return "y", its rank times ten in each of two elements.
Case tens() {
  Case test_case;
  test_case.task = "a0.tens";
  test_case.name = "Tens";
  test_case.inputs = [](const CasePlace&) { return CaseInputs(); };
  test_case.expected = [](const CasePlace& place) {
    return TensorMap{{"y", at::full({2}, 10.0 * place.rank, at::kDouble)}};
  };
  return test_case;
}

CaseRecord returned(const TensorMap& results) {
  CaseRecord record;
  record.task = "a0.tens";
  record.name = "Tens";
  record.results = results;
  return record;
}

CaseRecord right(int rank) {
  return returned(tens().expected({rank, 2, 42}));
}

/// The verdict when rank 0 is right and rank 1 returned this.
CaseVerdict with_rank_one(const std::optional<CaseRecord>& record, const Case& test_case = tens()) {
  return judge_case(test_case, 2, 42, ByRank{right(0), record});
}

std::string words_for(const TensorMap& results) {
  const CaseVerdict verdict = with_rank_one(returned(results));
  CHECK((verdict.ranks[1].worth == Worth::kFailed));
  CHECK_FALSE(verdict.passed());
  return verdict.reason;
}

TEST_CASE("right on all ranks passes, with nothing to say") {
  const CaseVerdict verdict = with_rank_one(right(1));
  CHECK(verdict.passed());
  CHECK_FALSE(verdict.skipped());
  CHECK_FALSE(verdict.too_expensive());
  CHECK(verdict.message().empty());
}

TEST_CASE("results that must have the same bits everywhere: close is not enough") {
  Case same = tens();
  same.expected = [](const CasePlace&) { return TensorMap{{"y", at::full({2}, 0.1)}}; };
  same.same_on_all_ranks = {"y"};
  const auto judged = [&](float on_rank_one) {
    return judge_case(same, 2, 42,
                      ByRank{returned({{"y", at::full({2}, 0.1)}}), returned({{"y", at::full({2}, on_rank_one)}})});
  };
  CHECK(judged(0.1F).passed());
  const CaseVerdict close = judged(0.10000001F);
  CHECK_FALSE(close.passed());
  CHECK(close.reason.find("rank 1, result 'y', element [0]: 0.10000001") == 0);
  CHECK(close.reason.find("expected the same bits on all ranks") != std::string::npos);
  CHECK(judged(0.2F).reason.find("expected 0.1") != std::string::npos);
}

TEST_CASE("an operation that no bound names must not happen; without bounds, anything may") {
  Case bounded = tens();
  CaseRecord record = right(1);
  LedgerEntry gathered;
  gathered.operation = "all_gather";
  gathered.calls = 2;
  record.spent = {gathered};
  CHECK(with_rank_one(record, bounded).passed());
  CostBound sums;
  sums.operation = "all_reduce";
  bounded.bounds = on_every_rank({sums});
  CHECK(with_rank_one(record, bounded).reason == "rank 1: 2 calls of all_gather, expected at most 0");
  bounded.bounds = on_every_rank({CostBound()});  // of all operations together
  CHECK(with_rank_one(record, bounded).passed());
  gathered = {};
  gathered.operation = "a0.tens";
  gathered.messages = 3;
  record.spent = {gathered};
  bounded.bounds = on_every_rank({sums});
  CHECK(with_rank_one(record, bounded).reason == "rank 1: 3 messages sent of a0.tens, expected at most 0");
}

TEST_CASE("ranks that are right but take too long together are too expensive: the slowest says so") {
  Case limited = tens();
  limited.time = [](int size, std::uint64_t) { return TimeBound{4'000'000'000 / size, 5'000'000'000 / size, "stage"}; };
  const auto with_times = [&](const ModelTime& first, const ModelTime& second) {
    ByRank by_rank = {right(0), right(1)};
    by_rank[0]->used.model_time = first;
    by_rank[1]->used.model_time = second;
    return judge_case(limited, 2, 42, by_rank);
  };
  const ModelTime half = {2'500'000'000, 2'000'000'000, 500'000'000, 0};
  CHECK(with_times(half, half).passed());
  const CaseVerdict serial =
      with_times({3'000'000'000, 2'000'000'000, 1'000'000'000, 0}, {4'000'000'000, 2'000'000'000, 2'000'000'000, 0});
  CHECK(serial.too_expensive());
  CHECK(serial.reason ==
        "rank 1: takes 4 ms of model time, expected at most 2.5 (it can be done in 2): one stage at work at a time: "
        "1.0 of 2 stages idle");
  const CaseVerdict slow = with_times({3'000'000'000, 2'500'000'000, 500'000'000, 0}, half);
  CHECK(slow.reason ==
        "rank 0: takes 3 ms of model time, expected at most 2.5 (it can be done in 2): 0.5 of 2 stages idle");
  limited.time = [](int, std::uint64_t) {
    TimeBound hidden{0, TimeBound::kAny};
    hidden.max_waiting_ps = 1'500'000'000;
    return hidden;
  };
  CHECK(with_times(half, {9'000'000'000, 7'500'000'000, 1'500'000'000, 0}).passed());
  CHECK(with_times({9'000'000'000, 8'000'000'000, 1'000'000'000, 0}, {4'000'000'000, 2'000'000'000, 2'000'000'000, 0})
            .reason ==
        "rank 1: waits 2 ms of model time for messages, expected at most 1.5: post them earlier, so that they travel "
        "while the rank works");
  // A wrong result comes first.
  limited.time = [](int, std::uint64_t) { return TimeBound{1, 1}; };
  ByRank wrong = {right(0), returned({{"y", at::zeros({2}, at::kDouble)}})};
  for (auto& record : wrong) record->used.model_time.total = 9'000'000'000;
  CHECK((judge_case(limited, 2, 42, wrong).ranks[0].worth == Worth::kPassed));
}

TEST_CASE("a wrong rank is described at its first wrong element") {
  CHECK(words_for({{"y", at::tensor({10.0, 2.5}, at::kDouble)}}) ==
        "rank 1, result 'y', element [1]: expected 10, got 2.5 (max diff 7.5; 1 of 2 elements differ)");
}

TEST_CASE("what is no number, missing, unknown, undefined or of another form is wrong in words of its own") {
  CHECK(words_for({{"y", at::full({2}, std::nan(""), at::kDouble)}}) ==
        "rank 1, result 'y', element [0]: expected 10, got nan (max diff nan; 2 of 2 elements differ)");
  CHECK(words_for({}) == "rank 1, result 'y' is missing");
  CHECK(words_for({{"y", at::Tensor()}}) == "rank 1, result 'y' is undefined, expected float64 [2]");
  CHECK(words_for({{"y", at::zeros({3}, at::kDouble)}}) == "rank 1, result 'y': expected float64 [2], got float64 [3]");
  CHECK(words_for({{"y", at::zeros({2})}}) == "rank 1, result 'y': expected float64 [2], got float32 [2]");
  TensorMap more = right(1).results;
  more["z"] = at::zeros({1});
  CHECK(words_for(more) == "rank 1, result 'z' is not one of this task's");
}

TEST_CASE("where the norm decides, the worst element and the norm are named") {
  Case by_norm = tens();
  by_norm.tolerance.atol = by_norm.tolerance.rtol = std::numeric_limits<double>::infinity();
  by_norm.tolerance.relative_norm = 1e-3;
  const CaseVerdict verdict = with_rank_one(returned({{"y", at::tensor({10.0, 11.0}, at::kDouble)}}), by_norm);
  CHECK(verdict.reason ==
        "rank 1, result 'y', element [1]: expected 10, got 11 (max diff 1; relative error 0.0707, expected at most "
        "0.001)");
}

TEST_CASE("a rank that says nothing, or something of another case, has not passed") {
  CHECK((with_rank_one(std::nullopt).ranks[1].end == CaseEnd::kNothing));
  CaseRecord other = right(1);
  other.name = "Other";
  CHECK((with_rank_one(other).ranks[1].end == CaseEnd::kNothing));
  CHECK_FALSE(judge_case(tens(), 2, 42, ByRank{}).passed());
}

TEST_CASE("whether a case is skipped is the judge's to say") {
  Case test_case = tens();
  test_case.skip_reason = [](int) { return "too few heads"; };
  const CaseVerdict verdict = judge_case(test_case, 2, 42, ByRank{right(0), std::nullopt});
  CHECK(verdict.skipped());
  CHECK_FALSE(verdict.passed());
  CHECK(verdict.ranks[0].reason == "too few heads");
}

TEST_CASE("a case of rank 0 alone asks no other") {
  Case test_case = tens();
  test_case.only_rank_zero = true;
  const CaseVerdict verdict = judge_case(test_case, 2, 42, ByRank{right(0), std::nullopt});
  CHECK(verdict.passed());
  CHECK((verdict.ranks[1].end == CaseEnd::kNotAsked));
}

TEST_CASE("right numbers beyond a bound are too expensive, wrong ones wrong") {
  Case test_case = tens();
  test_case.bounds = on_every_rank({{"all_gather", 1}});
  CaseRecord costly = right(1);
  costly.spent = {{"all_gather", 3, 0, 0, 0, 0}};
  const CaseVerdict verdict = with_rank_one(costly, test_case);
  CHECK(verdict.too_expensive());
  CHECK_FALSE(verdict.passed());
  CHECK(verdict.reason == "rank 1: 3 calls of all_gather, expected at most 1");
  costly.results = {{"y", at::zeros({2}, at::kDouble)}};
  CHECK_FALSE(with_rank_one(costly, test_case).too_expensive());
  // What is never spent has no entry; a least is a bound, too.
  CostBound least;
  least.operation = "a0.tens";
  least.min_messages = 1;
  test_case.bounds = on_every_rank({least});
  CHECK(with_rank_one(right(1), test_case).too_expensive());
}

TEST_CASE("the rank that says most about the cause is quoted") {
  CaseRecord peer_failed = right(0), own_fault = right(1), todo = right(1);
  peer_failed.end = own_fault.end = CaseEnd::kThrew;
  peer_failed.message = "rank 1 failed: sizes disagree";
  peer_failed.exit_code = 5;
  own_fault.message = "sizes disagree";
  own_fault.exit_code = 4;
  todo.end = CaseEnd::kNotImplemented;
  todo.missing_task = "a0.helper";
  CHECK(judge_case(tens(), 2, 42, ByRank{peer_failed, own_fault}).reason == "rank 1: sizes disagree");
  const CaseVerdict unfinished = judge_case(tens(), 2, 42, ByRank{peer_failed, todo});
  CHECK((unfinished.worth == Worth::kNotImplemented));
  CHECK(unfinished.ranks[1].missing_task == "a0.helper");
  CHECK(unfinished.symptom.id.empty());
}

TEST_CASE("a message has reason and symptom") {
  const SmallTask sum = sum_task();
  const CaseVerdict verdict = judged(
      sum.test_case,
      [](Communicator& comm, const CaseInputs& inputs) {
        const at::Tensor mean = summed(comm, read_x(inputs)) / comm.size();
        return TensorMap{{"out", mean}, {"x", mean}};
      },
      4);
  CHECK_FALSE(verdict.symptom.id.empty());
  CHECK(verdict.message() == verdict.reason +
                                 "; likely: results 'out' and 'x' are divided by the number of ranks (4): a mean was "
                                 "made where the sum is asked for, or twice");
}

}  // namespace
}  // namespace lab::testing
