
#include <algorithm>

#include "common/checks/once_per_world.h"
#include "optC_model_parallel/calls/chain_model.h"
#include "optC_model_parallel/calls/pass_trial.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/pipeline_inputs.h"
#include "optC_model_parallel/cases/pipeline_bounds.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/model/images.h"

namespace lab::optc {
namespace {

/// A training, and its pipeline.
struct StaleSetup {
  std::string schedule;
  bool computes_long = false;  ///< with bounds on work and time
};

/// Of a mini-batch; the last one of the small training has 2.
std::int64_t batch_size(const StaleSetup& setup) {
  return setup.computes_long ? 32 : 4;
}

std::int64_t num_images(const StaleSetup& setup) {
  return setup.computes_long ? 14 * batch_size(setup) : 50;
}

PipelineOptions make_options(const StaleSetup& setup, int num_ranks) {
  PipelineOptions options;
  options.schedule = setup.schedule;
  options.num_micro_batches = setup.schedule == "pipedream-2bw" ? num_ranks + 1 : 1;
  return options;
}

/// Of these mini-batches of the training.
PipelineLoad compute_load(const StaleSetup& setup, int num_ranks, std::int64_t num_batches) {
  const StagePlan plan = setup.computes_long ? long_plan(num_ranks, 1, 1) : uneven_plan(num_ranks, 1);
  return {plan, std::min(num_batches * batch_size(setup), num_images(setup)),
          num_batches * make_options(setup, num_ranks).num_micro_batches};
}

std::int64_t all_batches(const StaleSetup& setup) {
  return num_batches(num_images(setup), batch_size(setup));
}

/// The whole model's weights, and "losses".
TensorMap emulated(const StaleSetup& setup, int num_ranks, std::uint64_t seed) {
  const StagePlan plan = compute_load(setup, num_ranks, 1).plan;
  const TrainingOptions options = stale_training(batch_size(setup), seed);
  const auto emulation =
      stale_weights(options, make_options(setup, num_ranks), plan.stages,
                    {plan.model, first_parameters(plan.model, seed, at::kDouble), options.optimizer});
  const std::vector<double> losses = train_in_two(*emulation, random_images(num_images(setup), seed), options);
  TensorMap results = emulation->parameters();
  results["losses"] = at::tensor(losses, at::kDouble);
  return results;
}

TensorMap part_of_rank(const StaleSetup& setup, const TensorMap& whole, const CasePlace& place) {
  TensorMap results;
  if (place.rank == place.size - 1) results["losses"] = whole.at("losses");
  for (const std::string& name : learning_names(compute_load(setup, place.size, 1).plan.layers(place.rank)))
    results[name] = whole.at(name);
  return results;
}

/// Of all weights of the rank's layers, in elements.
std::int64_t num_weights(const StagePlan& plan, int rank) {
  return plan_of_rank(plan, rank).num_parameters;
}

/// As of 1F1B, in which p - r micro-batches are live, each with a version of the weights and its gradients; and the
/// newest version with its gradients and the optimizer's state, the weights as they were given, the result, and two more
/// versions on the way.
ShareBound stale_memory(const StaleSetup& setup, const CasePlace& place) {
  const PipelineLoad load = compute_load(setup, place.size, all_batches(setup));
  const std::int64_t num_live = place.size - place.rank;
  // What vertical sync has in use on any stage; PipeDream-2BW needs two.
  const std::int64_t num_versions = setup.schedule == "pipedream" ? num_live : place.size;
  ShareBound bound = pipeline_memory(load, place.rank, num_live);
  const std::int64_t weights_bytes =
      num_weights(load.plan, place.rank) * static_cast<std::int64_t>(c10::elementSize(load.dtype));
  bound.most += (2 * num_versions + 7) * weights_bytes;
  return bound;
}

/// As of a pipeline, and an update of each weight after each mini-batch, written out.
ShareBound stale_work(const StaleSetup& setup, const CasePlace& place) {
  constexpr std::int64_t kPerWeight = 12;
  const PipelineLoad load = compute_load(setup, place.size, all_batches(setup));
  ShareBound bound = pipeline_work(load, place.rank);
  bound.most += kPerWeight * all_batches(setup) * num_weights(load.plan, place.rank);
  return bound;
}

/// 1F1B twice, as it is drained once in between.
TimeBound stale_time(const StaleSetup& setup, int num_ranks) {
  const TimeBound first = pipeline_time(compute_load(setup, num_ranks, kFirstSteps), "1f1b");
  const TimeBound rest = pipeline_time(compute_load(setup, num_ranks, all_batches(setup) - kFirstSteps), "1f1b");
  return {first.needed_ps + rest.needed_ps, first.max_ps + rest.max_ps, first.unit};
}

Case stale_case(const std::string& task, const std::string& name, const StaleSetup& setup) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  result.tolerance = by_norm(1e-11);
  result.inputs = [setup](const CasePlace& place) {
    CaseInputs inputs = pipeline_inputs(make_options(setup, place.size), random_images(num_images(setup), place.seed),
                                        place, {setup.computes_long ? 1 : 0});
    inputs.seed = place.seed;
    inputs.numbers["batch_size"] = static_cast<double>(batch_size(setup));
    return inputs;
  };
  result.keep_own_part = [setup](const CasePlace& place, TensorMap& inputs) {
    keep_images_of_ends("input.", place, inputs);
    keep_weights(compute_load(setup, place.size, 1).plan.layers(place.rank), inputs);
    add_orders(num_images(setup), 1, place.seed, inputs);
  };
  const OncePerWorld<TensorMap> whole([setup](int size, std::uint64_t seed) { return emulated(setup, size, seed); });
  result.expected = [setup, whole](const CasePlace& place) { return part_of_rank(setup, *whole.at(place), place); };
  result.bounds = [task, setup](const CasePlace& place) {
    return pipeline_bounds(task, compute_load(setup, place.size, all_batches(setup)), place.rank);
  };
  result.memory = [setup](const CasePlace& place) { return stale_memory(setup, place); };
  if (setup.computes_long) {
    result.costly = true;
    result.work = [setup](const CasePlace& place) { return stale_work(setup, place); };
    result.time = [setup](int size, std::uint64_t) { return stale_time(setup, size); };
  }
  return result;
}

}  // namespace

std::vector<Case> stale_cases() {
  return {stale_case("optC.pipedream", "PipeDream", {"pipedream"}),
          stale_case("optC.vertical_sync", "VerticalSync", {"pipedream-sync"}),
          stale_case("optC.pipedream_2bw", "PipeDream2bw", {"pipedream-2bw"})};
}

Case pipedream_long_case() {
  return stale_case("optC.pipedream", "PipeDreamLong", {"pipedream", true});
}

}  // namespace lab::optc
