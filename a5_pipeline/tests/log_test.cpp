#include <fmt/format.h>

#include <regex>

#include "a5_pipeline/arguments.h"
#include "a5_pipeline/cases/cases.h"
#include "a5_pipeline/commands/main_comparison.h"
#include "common/api/partition.h"
#include "common/log/check_log.h"
#include "common/log/match_line.h"
#include "common/testing/case_names.h"
#include "common/testing/log_mutations.h"
#include "common/testing/right_log.h"
#include "common/testing/test.h"

// The log expectation accepts a correct log and rejects every small corruption of it.
namespace lab::a5 {
namespace {

log::LogExpectation expected_log(int num_ranks) {
  const LabOptions options;
  BaselineFile no_baseline;
  return make_expectation(program_steps(options, no_baseline), num_ranks);
}

std::string right_log(int num_ranks) {
  testing::RightLog log(num_ranks);
  log.check(sections_before_comparison());
  log.line("[Rank 0] Baseline, in one process: number of layers 10, of micro-batches 8.");
  log.line(
      fmt::format("[Rank 0] Pipeline (pp {}, schedule afab, float32): outputs and gradients, to 4e-05 of the "
                  "baseline's norm.",
                  num_ranks));
  const auto choose_layers = [&](int rank) {
    return uneven_slice(PipelineArguments().number_of_layers, num_ranks, rank);
  };
  for (int rank = 0; rank < num_ranks; ++rank) {
    const Slice slice = choose_layers(rank);
    log.line(fmt::format("[Rank {}] has layers {}{}", rank, slice.begin,
                         slice.size == 1 ? "" : fmt::format("-{}", slice.end() - 1)));
  }
  log.match("Outputs", num_ranks - 1, 1.192093e-07);
  for (int rank = 0; rank < num_ranks; ++rank) {
    for (std::int64_t layer = choose_layers(rank).begin; layer < choose_layers(rank).end(); ++layer)
      log.match(fmt::format("Layer{}", layer), rank, 1.192093e-07);
  }
  log.check(sections_after_comparison());
  return log.done();
}

TEST_CASE("the expectation accepts a right log, at every world size") {
  for (const int num_ranks : {1, 2, 3, 4, 5, 8}) {
    CAPTURE(num_ranks);
    const std::vector<std::string> problems = log::check_log(right_log(num_ranks), expected_log(num_ranks));
    CHECK_MESSAGE(problems.empty(), (problems.empty() ? "" : problems.front()));
  }
}

TEST_CASE("the expectation refuses a log of another number of ranks, and one whose exact lines are not exact") {
  CHECK_FALSE(log::check_log(right_log(4), expected_log(2)).empty());
  CHECK_FALSE(log::check_log(right_log(2), expected_log(4)).empty());
  std::string log = right_log(2);
  const std::string exact = format(log::MatchLine{"Communicate", 1, true, 0, 0});
  log.replace(log.find(exact), exact.size(), format(log::MatchLine{"Communicate", 1, true, 1e-7, 1e-8}));
  CHECK_FALSE(log::check_log(log, expected_log(2)).empty());
}

/// The schedule and the dtype are whatever the run was given; with other letters they name another run.
bool names_another_run(const LogMutation& mutation) {
  static const std::regex form(
      ".*with another letter: \\[Rank 0\\] Pipeline \\(pp [0-9], schedule [a-z]+, [a-z0-9]+\\): outputs and gradients, "
      "to 4e-05 of the baseline's norm\\.");
  return std::regex_match(mutation.what, form);
}

TEST_CASE("the expectation refuses every line deleted, duplicated or falsified in turn") {
  for (const int num_ranks : {2, 3}) {
    const auto mutations = log_mutations(right_log(num_ranks));
    CHECK(mutations.size() > 500);
    const log::LogExpectation expectation = expected_log(num_ranks);
    for (const LogMutation& mutation : mutations) {
      CAPTURE(mutation.what);
      if (names_another_run(mutation)) continue;
      CHECK_FALSE(log::check_log(mutation.text, expectation).empty());
    }
  }
}

TEST_CASE("every case has a call, and a unique name") {
  CHECK(testing::misnamed_case(all_cases(), calls()) == "");
  CHECK(all_cases().size() == 18);
}

}  // namespace
}  // namespace lab::a5
