#include "optC_model_parallel/pipeline_calls.h"

#include <memory>
#include <utility>

#include "optC_model_parallel/gpipe.h"
#include "optC_model_parallel/live_micro_batches.h"
#include "optC_model_parallel/micro_batches.h"
#include "optC_model_parallel/pass_cases.h"
#include "optC_model_parallel/pipedream.h"
#include "optC_model_parallel/pipeline_part_trials.h"
#include "optC_model_parallel/pipeline_strategy.h"
#include "optC_model_parallel/pipeline_training_case.h"
#include "optC_model_parallel/split_layers.h"
#include "optC_model_parallel/stale_cases.h"
#include "optC_model_parallel/weight_versions.h"

namespace lab::optc {
namespace {

LiveUnderTest live_micro_batches(bool recompute) {
  const auto live = std::make_shared<LiveMicroBatches>(recompute);
  return {[live](int i, const at::Tensor& input, const StageFunction& f) { return live->forward(i, input, f); },
          [live](int i, const at::Tensor& output_grad) { return live->backward(i, output_grad); },
          [live] { return live->size(); }};
}

VersionsUnderTest weight_versions(Parameters first) {
  const auto versions = std::make_shared<WeightVersions>(std::move(first));
  return {[versions](std::int64_t i, std::int64_t version) -> const Parameters& { return versions->start(i, version); },
          [versions](std::int64_t i) -> const Parameters& { return versions->of(i); },
          [versions](std::int64_t i) { versions->finish(i); },
          [versions](Parameters next) { versions->add(std::move(next)); }, [versions] { return versions->num_kept(); }};
}

TensorMap stage_call(Communicator&, const CaseInputs& inputs) {
  return stage_trial(inputs, live_micro_batches);
}

TensorMap pass_call(Communicator& comm, const CaseInputs& inputs) {
  return pass_trial(comm, inputs, gpipe);
}

TensorMap gpipe_alone_call(Communicator& comm, const CaseInputs& inputs) {
  return gpipe_alone_trial(comm, inputs, gpipe);
}

TensorMap stale_call(Communicator& comm, const CaseInputs& inputs) {
  return stale_trial(comm, inputs, version_rule);
}

/// Of tasks with two kinds of cases: the call for those that bring images for a pipeline, or the other.
TaskCall with_images(TaskCall with, TaskCall without) {
  return [with = std::move(with), without = std::move(without)](Communicator& comm, const CaseInputs& inputs) {
    return (inputs.tensors.count("input.pixels") != 0 ? with : without)(comm, inputs);
  };
}

}  // namespace

CallTable pipeline_calls() {
  return {
      {"optC.split_layers", [](Communicator&, const CaseInputs& inputs) { return split_trial(inputs, split_layers); }},
      {"optC.micro_batches", [](Communicator&, const CaseInputs& inputs) { return cut_trial(inputs, micro_batches); }},
      {"optC.micro_batch_loss",
       [](Communicator&, const CaseInputs& inputs) { return loss_trial(inputs, micro_batch_loss); }},
      {"optC.stage", stage_call},
      {"optC.recompute", with_images(pass_call, stage_call)},
      {"optC.gpipe", with_images(pass_call, gpipe_alone_call)},
      {"optC.pipeline_training", pipeline_training_trial},
      {"optC.one_forward_one_backward", pass_call},
      {"optC.interleaved", pass_call},
      {"optC.weight_versions",
       [](Communicator&, const CaseInputs& inputs) { return versions_trial(inputs, weight_versions); }},
      {"optC.pipedream", with_images(stale_call,
                                     [](Communicator&, const CaseInputs& inputs) {
                                       return stage_versions_trial(inputs, pipedream_version);
                                     })},
      {"optC.vertical_sync", with_images(stale_call,
                                         [](Communicator&, const CaseInputs& inputs) {
                                           return synced_versions_trial(inputs, vertical_sync_version);
                                         })},
      {"optC.pipedream_2bw", with_images(stale_call, [](Communicator&, const CaseInputs& inputs) {
         return two_versions_trial(inputs, pipedream_2bw_version);
       })}};
}

}  // namespace lab::optc
