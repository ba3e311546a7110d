#include "optC_model_parallel/cases/stale_cases.h"

#include "optC_model_parallel/calls/chain_model.h"
#include "optC_model_parallel/calls/stale_trial.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/judged_parts.h"
#include "optC_model_parallel/cases/pipeline_bounds.h"
#include "optC_model_parallel/cases/pipeline_inputs.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/model/data/batches.h"

namespace lab::optc {
namespace {

constexpr std::int64_t kStaleImages = 50;  // the last mini-batch has 2

PipelineOptions stale_pipeline(const std::string& schedule, int num_ranks) {
  PipelineOptions options;
  options.schedule = schedule;
  options.num_micro_batches = schedule == "pipedream-2bw" ? num_ranks + 1 : 1;
  return options;
}

TensorMap stale_expected(const std::string& schedule, const CasePlace& place) {
  const StagePlan plan = uneven_plan(place.size, 1);
  const TrainingOptions options = stale_training(place.seed);
  const auto emulation =
      stale_weights(options, stale_pipeline(schedule, place.size), plan.stages,
                    {plan.model, first_parameters(plan.model, place.seed, at::kDouble), options.optimizer});
  const std::vector<double> losses = train_in_two(*emulation, random_images(kStaleImages, place.seed), place.seed);
  const TensorMap whole = emulation->parameters();
  TensorMap results;
  if (place.rank == place.size - 1) results["losses"] = at::tensor(losses, at::kDouble);
  for (const std::string& name : learning_names(plan.layers(place.rank))) results[name] = whole.at(name);
  return results;
}

Case stale_case(const std::string& task, const std::string& name, const std::string& schedule) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  result.tolerance = by_norm(1e-11);
  result.inputs = [schedule](const CasePlace& place) {
    CaseInputs inputs =
        pipeline_inputs(stale_pipeline(schedule, place.size), random_images(kStaleImages, place.seed), place);
    inputs.seed = place.seed;
    return inputs;
  };
  result.keep_own_part = [](const CasePlace& place, TensorMap& inputs) {
    keep_images_of_ends("input.", place, inputs);
    keep_weights_of(uneven_plan(place.size, 1).layers(place.rank), inputs);
    add_orders(kStaleImages, 1, place.seed, inputs);
  };
  result.expected = [schedule](const CasePlace& place) { return stale_expected(schedule, place); };
  result.bounds = [task, schedule](const CasePlace& place) {
    const std::int64_t num_micro_batches = num_batches(kStaleImages, stale_training(place.seed).batch_size) *
                                           stale_pipeline(schedule, place.size).num_micro_batches;
    return pipeline_bounds(task, uneven_plan(place.size, 1), place.rank, kStaleImages, num_micro_batches);
  };
  return result;
}

}  // namespace

std::vector<Case> stale_cases() {
  return {stale_case("optC.pipedream", "PipeDream", "pipedream"),
          stale_case("optC.vertical_sync", "VerticalSync", "pipedream-sync"),
          stale_case("optC.pipedream_2bw", "PipeDream2bw", "pipedream-2bw")};
}

}  // namespace lab::optc
