#include "a4_data_tensor/cases/cases.h"

#include <fmt/format.h>

#include "a4_data_tensor/single_step.h"
#include "common/log/match_line.h"
#include "common/tensor/compare.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// The reference solution passes every case, at every world size that divides.
namespace lab::a4 {
namespace {

TEST_CASE("the baseline's figures are those of the handout's Python code") {
  const StepResult result = single_step({});
  const Comparison moved = compare(result.initial_weight, result.updated_weight);
  CHECK_FALSE(moved.close);
  CHECK(log::format_figure(moved.max_diff) == "1.193051e-01");
  CHECK(log::format_figure(moved.mean_diff) == "3.029096e-02");
}

TEST_CASE("the reference passes every case at world sizes 1 2 4 8 and with another seed") {
  std::vector<Case> cases = handout_cases({});
  for (const Case& further : further_cases({})) cases.push_back(further);
  REQUIRE(cases.size() == 10);
  const CallTable table = calls();
  for (const int size : {1, 2, 4, 8}) {
    for (const std::uint64_t seed : {42, 20231}) {
      const auto outcome =
          launch::run_ranks(threads(size), launch::RankBody([&](Communicator& comm, launch::RankOutcome& own) {
                              for (const Case& test_case : cases) {
                                const CaseResult result = run_case(test_case, table, comm, seed);
                                if (!result.passed() || result.comparison.max_diff > 1e-6) {
                                  throw std::runtime_error(fmt::format("{}: max diff {} {}", test_case.name,
                                                                       result.comparison.max_diff, result.over_budget));
                                }
                                own.tensors[test_case.name] = result.actual.begin()->second;
                              }
                            }));
      CAPTURE(size);
      CAPTURE(seed);
      if (outcome.failure) FAIL_CHECK(outcome.failure->message);
      for (const launch::RankOutcome& rank : outcome.ranks) CHECK(rank.tensors.size() == cases.size());
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

TEST_CASE("the update by hand is the update") {
  StepOptions options;
  options.global_batch_size = 6;
  options.input_dim = 3;
  options.output_dim = 2;
  options.seed = 5;
  CHECK(compare(single_step(options).updated_weight, updated_by_hand(options)).max_diff < 1e-6);
}

}  // namespace
}  // namespace lab::a4
