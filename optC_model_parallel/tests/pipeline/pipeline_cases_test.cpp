#include "optC_model_parallel/cases/cases.h"

#include "common/comm/sim_world.h"
#include "common/testing/case_runs.h"
#include "common/testing/judged_case.h"
#include "common/testing/test.h"
#include "optC_model_parallel/calls/pipeline_calls.h"

namespace lab::optc {
namespace {

using testing::contains;

// The reference solution passes every case of the pipeline, at every world size, with another seed, and in simulated
// time.

void check_all_pass(const std::vector<Case>& cases, launch::WorldKind kind, int size, std::uint64_t seed) {
  CHECK(testing::problem_of_cases(cases, calls(), kind, size, seed) == "");
}

TEST_CASE("the reference passes every case of the pipeline at every world size") {
  for (const int size : testing::world_sizes({1, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8}))
    check_all_pass(list_cases(pipeline_sections()), launch::WorldKind::kThreads, size, 1234);
  check_all_pass(list_cases(pipeline_sections()), launch::WorldKind::kThreads, 4, 20231);
}

TEST_CASE("the reference passes the cases that a run does not print: long ones, and those in float32") {
  for (const int size : testing::world_sizes({3, 4}, {1, 2, 3, 4, 7, 8}))
    check_all_pass(unprinted_pipeline_cases(), launch::WorldKind::kThreads, size, 1234);
}

TEST_CASE("every mistake is wrong, and recognised") {
  CHECK(testing::unrecognised_mistake(list_cases(pipeline_sections()), 3) == "");
}

TEST_CASE("and in the simulated world") {
  if (!comm::SimWorld::available()) {
    MESSAGE("skipped: this build has no SimGrid");
    return;
  }
  for (const int size : testing::world_sizes({3}, {1, 3}))
    check_all_pass(list_cases(pipeline_sections()), launch::WorldKind::kSim, size, 1234);
}

// Bounds that no change of a student file alone exceeds: those on the time of a schedule, which is given code, and on
// what a training with right numbers must send.

/// Each micro-batch through all chunks, forward and back, before the next one begins.
GpipeFunction one_at_a_time(int num_chunks) {
  return [num_chunks](pipeline::StageWork& work, PointToPoint& p2p, int m, const pipeline::Buffers& buffers) {
    const int p = p2p.size(), last_stage = p * num_chunks - 1;
    const int next = (p2p.rank() + 1) % p, previous = (p2p.rank() + p - 1) % p;
    for (int i = 0; i < m; ++i) {
      for (int stage = p2p.rank(); stage <= last_stage; stage += p) {
        at::Tensor input;
        if (stage > 0) p2p.recv(input = buffers(stage, i), previous, stage);
        const at::Tensor output = work.forward(stage / p, i, input);
        if (stage < last_stage) p2p.send(output, next, stage + 1);
      }
      for (int stage = last_stage - p + 1 + p2p.rank(); stage >= 0; stage -= p) {
        at::Tensor grad;
        if (stage < last_stage) p2p.recv(grad = buffers(stage + 1, i), next, stage + 1);
        const at::Tensor input_grad = work.backward(stage / p, i, grad);
        if (stage > 0) p2p.send(input_grad, previous, stage);
      }
    }
  };
}

/// The verdict if the case's schedule is this function, without what the stages themselves say of live micro-batches.
std::string verdict_on_schedule(const std::string& name, const GpipeFunction& schedule, int num_ranks) {
  Case test_case = named_cases(all_cases(), name, "").at(0);
  const auto without_count = [](TensorMap results) {
    results.erase("most_live");
    return results;
  };
  test_case.expected = [=, expected = test_case.expected](const CasePlace& place) {
    return without_count(expected(place));
  };
  const TaskCall call = [&](Communicator& comm, const CaseInputs& inputs) {
    CaseInputs changed = inputs;
    changed.numbers["schedule"] = 0;  // gpipe
    return without_count(pass_call(comm, changed, schedule));
  };
  return testing::verdict({test_case}, name, call, num_ranks);
}

TEST_CASE("1F1B and interleaved one micro-batch at a time are too slow: numbers and messages are right") {
  for (const int num_ranks : {2, 4}) {
    CAPTURE(num_ranks);
    CHECK(verdict_on_schedule("OneForwardOneBackward", one_at_a_time(1), num_ranks) == "passed");  // too small for that
    CHECK(verdict_on_schedule("Interleaved", one_at_a_time(2), num_ranks) == "passed");
    for (const auto& [name, num_chunks] : {std::pair("OneForwardOneBackwardLong", 1), std::pair("InterleavedLong", 2)})
      CHECK(contains(verdict_on_schedule(name, one_at_a_time(num_chunks), num_ranks), "one stage at work at a time: "));
  }
}

TEST_CASE("a training on each rank alone, with right numbers, sends too little") {
  for (const auto& [name, problem] :
       {std::pair("PipelineTraining", "0 messages sent of optC.pipeline_training, expected at least "),
        std::pair("TensorTraining", "0 bytes received in all, expected at least "),
        std::pair("TransformerTraining", "0 bytes received in all, expected at least "),
        std::pair("ResnetTraining", "0 bytes received in all, expected at least ")}) {
    const Case test_case = named_cases(all_cases(), name, "").at(0);
    const TaskCall known_results = [&](Communicator& comm, const CaseInputs& inputs) {
      return test_case.expected({comm.rank(), comm.size(), inputs.seed});
    };
    CHECK(contains(testing::verdict({test_case}, name, known_results, 2), problem));
  }
}

}  // namespace
}  // namespace lab::optc
