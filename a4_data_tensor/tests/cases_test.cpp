#include "a4_data_tensor/cases/cases.h"

#include <fmt/format.h>

#include "a4_data_tensor/single_step.h"
#include "common/api/compare.h"
#include "common/log/check_log.h"
#include "common/log/match_line.h"
#include "common/testing/case_names.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/log_mutations.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

namespace lab::a4 {
namespace {

// The reference solution passes every case, at every world size.

TEST_CASE("the baseline's figures are those of the handout's Python code") {
  const StepResult result = single_step({});
  const Comparison moved = compare(result.initial_weight, result.updated_weight);
  CHECK_FALSE(moved.close);
  CHECK(log::format_figure(moved.max_diff) == "1.193051e-01");
  CHECK(log::format_figure(moved.mean_diff) == "3.029096e-02");
}

/// Cases of the handout's sizes that a number of ranks does not divide.
std::size_t num_skipped(int num_ranks) {
  std::size_t count = 0;
  for (const Case& test_case : all_cases()) count += find_skip_reason(test_case, num_ranks).empty() ? 0 : 1;
  return count;
}

TEST_CASE("the reference passes every case at every world size and with another seed") {
  for (const int size : testing::world_sizes({1, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8})) {
    for (const std::uint64_t seed : {42, 20231}) {
      CHECK(testing::problem_of_cases(all_cases(), calls(), launch::WorldKind::kThreads, size, seed,
                                      num_skipped(size)) == "");
    }
  }
}

TEST_CASE("the lines of a run differ from the expected ones by at most 1e-6") {
  std::vector<Case> printed = handout_cases({});
  for (const Case& further : further_cases({})) printed.push_back(further);
  REQUIRE(printed.size() == 10);
  const auto outcome = launch::run_ranks(threads(4), launch::RankBody([&](Communicator& comm, launch::RankOutcome&) {
                                           for (const Case& test_case : printed) {
                                             const CaseResult result = run_case(test_case, calls(), comm, 42);
                                             if (result.comparison.max_diff <= 1e-6) continue;
                                             throw std::runtime_error(test_case.name);
                                           }
                                         }));
  CHECK_MESSAGE(!outcome.failure, (outcome.failure ? outcome.failure->message : ""));
}

TEST_CASE("every case runs on any number of ranks, or on all that divide the handout's sizes") {
  for (const int size : {1, 2, 4, 8}) CHECK(num_skipped(size) == 0);
  for (const int size : {3, 5, 6, 7}) {
    CAPTURE(size);
    CHECK(num_skipped(size) == 6);
    for (const Case& test_case : all_cases()) {
      const std::string reason = find_skip_reason(test_case, size);
      if (!reason.empty()) CHECK(reason.find(fmt::format(" does not divide by {} ranks", size)) != std::string::npos);
    }
  }
}

TEST_CASE("every task runs on all sizes that are judged, in a case that is not skipped") {
  for (const int size : graded_lab().sizes.all()) {
    for (const std::string& task : list_tasks(all_cases())) {
      std::size_t num_run = 0;
      for (const Case& test_case : cases_of_task(all_cases(), task))
        num_run += find_skip_reason(test_case, size).empty() ? 1 : 0;
      CAPTURE(task);
      CHECK(num_run > 0);
    }
  }
}

TEST_CASE("sizes that do not divide are refused on every rank, with the numbers") {
  for (const char* name : {"DataParallel", "FullColumnParallel"}) {
    const std::vector<Case> cases = handout_cases({});
    const auto outcome = launch::run_ranks(threads(3), launch::RankBody([&](Communicator& comm, launch::RankOutcome&) {
                                             for (const Case& test_case : cases) {
                                               if (test_case.name == name) run_case(test_case, calls(), comm, 42);
                                             }
                                           }));
    REQUIRE(outcome.failure);
    CAPTURE(outcome.failure->message);
    for (const launch::RankOutcome& rank : outcome.ranks) CHECK(rank.failure);
    CHECK(outcome.failure->exit_code == static_cast<int>(ExitCode::kContract));
    CHECK(outcome.failure->message.find('3') != std::string::npos);
  }
}

TEST_CASE("every mistake of a case is recognised in its own wrong results") {
  for (const int size : {1, 2, 4}) CHECK(testing::unrecognised_mistake(all_cases(), size) == "");
}

TEST_CASE("every case has a call and a unique name") {
  CHECK(testing::misnamed_case(all_cases(), calls()) == "");
}

TEST_CASE("the update by hand is the update") {
  StepOptions options;
  options.global_batch_size = 6;
  options.input_dim = 3;
  options.output_dim = 2;
  options.seed = 5;
  CHECK(compare(single_step(options).updated_weight, updated_by_hand(options)).max_diff < 1e-6);
}

// The log expectation accepts a correct log and rejects every small corruption of it.

std::string right_log(int num_ranks) {
  std::string log;
  const auto line = [&](const std::string& text) { log += text + "\n"; };
  const auto on_every_rank = [&](const std::string& prefix) {
    for (int rank = 0; rank < num_ranks; ++rank)
      line(format(log::MatchLine{prefix, rank, true, 2.384186e-07, 5.065431e-09}));
  };
  for (int rank = num_ranks - 1; rank >= 0; --rank)
    line(fmt::format("[Distributed Init] Rank {} initialized on N/A on CPU {}.", rank, rank));
  line("[Rank 0] All ranks ready!");
  line("[Rank 0] Compute the updated matrix which should be different from the initial weight matrix.");
  line("[Rank 0] Tensors match: False | Max diff: 1.193051e-01 | Mean diff: 3.029096e-02");
  line("[Rank 0] Compute the updated weight using batch accumulation. They should match.");
  line(format(log::MatchLine{"", 0, true, 2.384186e-07, 4.493632e-09}));
  line("[Rank 0] Compute the updated weight using data parallelism.");
  on_every_rank("DataParallel");
  line("[Rank 0] Compute the updated weight using tensor parallelism (FullColumnParallelLinear).");
  on_every_rank("FullColumnParallel");
  for (int rank = 0; rank < num_ranks; ++rank) line(fmt::format("[Rank {}] done", rank));
  line(
      "[Rank 0] Beyond the handout: the update by hand, exact data, gradients of the input, bias, row parallel, column "
      "and row.");
  line(format(log::MatchLine{"SingleStep", 0, true, 5.960464e-08, 1e-09}));
  for (const char* prefix : {"BroadcastParallel", "GatherParallel", "InputGrad", "Bias", "RowParallel", "ColumnRow"})
    on_every_rank(prefix);
  return log;
}

TEST_CASE("the expectation accepts a right log, at every world size") {
  for (const int num_ranks : {1, 2, 4, 8}) {
    CAPTURE(num_ranks);
    const std::vector<std::string> problems = log::check_log(right_log(num_ranks), expected_log(num_ranks));
    CHECK_MESSAGE(problems.empty(), (problems.empty() ? "" : problems.front()));
  }
}

TEST_CASE("the expectation refuses a log of another number of ranks") {
  CHECK_FALSE(log::check_log(right_log(4), expected_log(2)).empty());
  CHECK_FALSE(log::check_log(right_log(2), expected_log(4)).empty());
}

TEST_CASE("the expectation refuses every line deleted, duplicated or falsified in turn") {
  const auto mutations = log_mutations(right_log(4));
  CHECK(mutations.size() > 200);
  const log::LogExpectation expectation = expected_log(4);
  for (const LogMutation& mutation : mutations) {
    CAPTURE(mutation.what);
    CHECK_FALSE(log::check_log(mutation.text, expectation).empty());
  }
}

}  // namespace
}  // namespace lab::a4
