#include "common/testing/case_runs.h"
#include "common/testing/test.h"
#include "optC_model_parallel/calls/training_calls.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/model/parallel/strategies.h"
#include "optC_model_parallel/models.h"

// What trainings may send, from both sides.
namespace lab::optc {
namespace {

using testing::contains;

std::string verdict_on_training(const std::string& name, const TaskCall& call, int num_ranks) {
  return testing::verdict(all_cases(), name, call, num_ranks);
}

/// The right results of the named case, without any work.
TaskCall known_results(const std::string& name) {
  return [name](Communicator& comm, const CaseInputs& inputs) {
    for (const Case& test_case : all_cases()) {
      if (test_case.name == name) return test_case.expected({comm.rank(), comm.size(), inputs.seed});
    }
    return TensorMap{};
  };
}

TEST_CASE("right: stages of equally many layers, which nobody has balanced") {
  const TaskCall even = [](Communicator& comm, const CaseInputs& inputs) {
    const TrainingOptions options = pipeline_training_options(comm.size(), inputs.seed);
    StagePlan plan{model_named(options.model), {}, comm.size()};
    for (int stage = 0; stage < comm.size(); ++stage)
      plan.stages.push_back(uneven_slice(static_cast<std::int64_t>(plan.model.layers.size()), comm.size(), stage));
    return pipeline_training_of(*synchronous_pipeline(plan, options, gpipe_of_five(), comm), comm, inputs);
  };
  for (const int num_ranks : {1, 2, 3, 4}) CHECK(verdict_on_training("PipelineTraining", even, num_ranks) == "passed");
}

TEST_CASE("wrong: a training on each rank alone, with right numbers: nothing travels") {
  CHECK(contains(verdict_on_training("PipelineTraining", known_results("PipelineTraining"), 2),
                 "0 messages sent of optC.pipeline_training, expected at least "));
  for (const char* name : {"TensorTraining", "TransformerTraining", "ResnetTraining"})
    CHECK(contains(verdict_on_training(name, known_results(name), 2), "0 bytes received in all, expected at least "));
}

TEST_CASE("wrong: far more travels than any textbook way sends") {
  const TaskCall wasteful = [](Communicator& comm, const CaseInputs& inputs) {
    for (int i = 0; i < 4; ++i) comm.collectives().all_reduce(at::zeros({1 << 21}, at::kDouble));
    return calls().at("optC.resnet_training")(comm, inputs);
  };
  CHECK(contains(verdict_on_training("ResnetTraining", wasteful, 2), "bytes sent in all, expected at most "));
}

}  // namespace
}  // namespace lab::optc
