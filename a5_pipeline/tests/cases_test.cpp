#include "a5_pipeline/cases/cases.h"

#include "a5_pipeline/calls/calls.h"
#include "common/comm/sim_world.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"

// The reference solution passes every case, at every world size, with another seed, and in simulated time.
namespace lab::a5 {
namespace {

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

}  // namespace
}  // namespace lab::a5
