#include "a5_pipeline/cases/cases.h"

#include <fmt/format.h>

#include <regex>

#include "a5_pipeline/arguments.h"
#include "a5_pipeline/calls/calls.h"
#include "a5_pipeline/commands/main_comparison.h"
#include "common/api/partition.h"
#include "common/comm/sim_world.h"
#include "common/log/check_log.h"
#include "common/log/match_line.h"
#include "common/testing/case_names.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/log_mutations.h"
#include "common/testing/right_log.h"
#include "common/testing/test.h"

namespace lab::a5 {
namespace {

// The reference solution passes every case, at every world size, with another seed, and in simulated time.

void check_all_pass(launch::WorldKind kind, int size, std::uint64_t seed) {
  CHECK(testing::problem_of_cases(all_cases(), calls(), kind, size, seed) == "");
}

TEST_CASE("the reference passes every case at every world size") {
  for (const int size : testing::world_sizes({1, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8}))
    check_all_pass(launch::WorldKind::kThreads, size, 1234);
  check_all_pass(launch::WorldKind::kThreads, 4, 20231);
}

TEST_CASE("and in the simulated world") {
  if (!comm::SimWorld::available()) {
    MESSAGE("skipped: this build has no SimGrid");
    return;
  }
  for (const int size : testing::world_sizes({3}, {1, 3, 4})) check_all_pass(launch::WorldKind::kSim, size, 1234);
}

TEST_CASE("a wrong entry of a table is described by what was asked there") {
  const auto reason = [](const std::string& name, const std::string& result, at::IntArrayRef place) {
    const Case test_case = named_cases(all_cases(), name, "").at(0);
    const TaskCall call = [&](Communicator& comm, const CaseInputs&) {
      TensorMap results = test_case.expected({comm.rank(), comm.size(), 42});
      at::Tensor entry = results.at(result);
      for (const std::int64_t index : place) entry = entry[index];
      entry.add_(1);
      return results;
    };
    return testing::judged(test_case, call, 1).reason;
  };
  CHECK(testing::contains(reason("CompareOutputs", "verdicts", {2}),
                          "[2] (the last micro-batch off; 1: they match): expected 0"));
  CHECK(testing::contains(reason("CompareGradients", "verdicts", {8}),
                          "(not the last layer's: layer12.fc1; 1: they match)"));
  CHECK(testing::contains(reason("DistributeLayers", "owner", {2, 4, 3}),
                          "(the stage of layer 3 of 5, on 3 stages; -1: none)"));
  CHECK(testing::contains(reason("Arguments", "accepted", {5}),
                          "(12 layers on 4 stages, batches of 16 in micro-batches of 3; 1: they make a pipeline; "));
}

TEST_CASE("1f1b with messages awaited in place: two stages send to each other and wait") {
  const TaskCall blocking = [](Communicator& comm, const CaseInputs& inputs) {
    pipeline::ScheduleOptions options = make_schedule_options(inputs, comm.size());
    options.waiting = pipeline::Waiting::kBlocking;
    return collect_results(run_scheduled_pipeline(make_arguments(inputs), pipeline::make_schedule(options), comm),
                           inputs, comm);
  };
  CHECK(testing::contains(testing::verdict(all_cases(), "OneForwardOneBackward", blocking, 2),
                          "deadlock: rank 0 waits to send 384 B to rank 1 ("));
}

// The log expectation accepts a correct log and rejects every small corruption of it.

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
