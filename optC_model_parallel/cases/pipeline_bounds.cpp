#include "optC_model_parallel/cases/pipeline_bounds.h"

#include <algorithm>

#include "common/pipeline/generators.h"
#include "common/pipeline/model_costs.h"
#include "optC_model_parallel/cases/tensor_bounds.h"

namespace lab::optc {
namespace {

std::int64_t element_bytes(const PipelineLoad& load) {
  return static_cast<std::int64_t>(c10::elementSize(load.dtype));
}

/// The products of the stage's layers.
std::int64_t forward_flops(const StagePlan& plan, int stage, std::int64_t num_images) {
  return 2 * num_images * static_cast<std::int64_t>(plan.layers(stage).multiply_adds());
}

/// How often a forward pass's products are computed in all.
std::int64_t num_passes(const PipelineLoad& load) {
  return load.options.recompute ? 4 : 3;
}

/// Of one image: what goes into a stage and comes out of it, and what autograd keeps in between, with both.
struct StageValues {
  std::int64_t ends = 0, kept = 0;
};

StageValues list_values(const StagePlan& plan, int stage) {
  const std::vector<LayerSpec> layers = plan.layers(stage).layers;
  const std::int64_t out = layers.back().out_shape.front();
  StageValues values{out, out};
  for (const LayerSpec& layer : layers) {
    const std::int64_t in = layer.parameters.front().shape.back();  // of a linear layer's weight [out, in]
    values.kept += in;
    if (stage > 0 && &layer == &layers.front()) values.ends += in;  // the first stage loads its images itself
  }
  return values;
}

}  // namespace

std::vector<CostBound> pipeline_bounds(const std::string& task, const PipelineLoad& load, int rank) {
  const StagePlan& plan = load.plan;
  std::int64_t num_borders = 0, values_of_image = 0;
  for (int chunk = 0; chunk < plan.num_chunks() && plan.num_ranks > 1; ++chunk) {
    const int stage = plan.numbers().find_stage(rank, chunk);
    for (const int before : {stage - 1, stage}) {  // the border after this stage
      if (before < 0 || before == plan.num_stages() - 1) continue;
      ++num_borders;
      values_of_image += plan.out_shape(before).front();
    }
  }
  CostBound own;
  own.operation = task;
  own.min_messages = own.max_messages = static_cast<std::uint64_t>(num_borders * load.num_micro_batches);
  own.max_bytes_sent = static_cast<std::uint64_t>(load.num_images * values_of_image * element_bytes(load));
  own.min_bytes_received = own.max_bytes_sent;  // over each border as much goes out as comes in
  std::vector<CostBound> bounds = messages_and_sums({}, plan.num_ranks);
  bounds.push_back(own);
  return bounds;
}

ShareBound pipeline_work(const PipelineLoad& load, int rank) {
  std::int64_t all = 0, own = 0;
  for (int stage = 0; stage < load.plan.num_stages(); ++stage) {
    const std::int64_t flops = num_passes(load) * forward_flops(load.plan, stage, load.num_images);
    all += flops;
    if (load.plan.numbers().rank_of_stage(stage) == rank) own += flops;
  }
  return {all, own + own / 4};
}

ShareBound pipeline_memory(const PipelineLoad& load, int rank, std::int64_t num_live) {
  const StagePlan& plan = load.plan;
  const std::int64_t images = (load.num_images + load.num_micro_batches - 1) / load.num_micro_batches;
  std::int64_t largest = 0, all_kept = 0;
  for (const LayerSpec& layer : layers_of_rank(plan, rank).layers)
    largest = std::max(largest, ModelSpec{"", {layer}}.num_parameters());
  StageValues widest;  // of this rank's stages
  for (int stage = 0; stage < plan.num_stages(); ++stage) {
    const StageValues values = list_values(plan, stage);
    all_kept += values.kept;
    if (plan.numbers().rank_of_stage(stage) == rank)
      widest = {std::max(widest.ends, values.ends), std::max(widest.kept, values.kept)};
  }
  const std::int64_t others = 2 + 6 * (plan.num_chunks() - 1);
  const std::int64_t live = num_live * (load.options.recompute ? widest.ends : widest.kept) + others * widest.kept;
  // As bytes, and then as numbers.
  const std::int64_t pixels = rank == 0 ? images * kImageChannels * kImageSide * kImageSide : 0;
  const std::int64_t weights = 2 * layers_of_rank(plan, rank).num_parameters() + 2 * largest;
  return {element_bytes(load) * (2 * plan.model.num_parameters() + load.num_images * all_kept),
          element_bytes(load) * (weights + images * live) + pixels * (1 + element_bytes(load))};
}

TimeBound pipeline_time(const PipelineLoad& load, const std::string& schedule) {
  const StagePlan& plan = load.plan;
  const std::int64_t images = load.num_images / load.num_micro_batches;
  std::vector<pipeline::StageWorkload> stages;
  for (int stage = 0; stage < plan.num_stages(); ++stage) {
    const std::int64_t flops = forward_flops(plan, stage, images);
    stages.push_back({flops, (num_passes(load) - 2) * flops, flops});
  }
  const std::int64_t bytes = images * plan.out_shape(0).front() * element_bytes(load);
  const pipeline::Schedule order =
      pipeline::make_schedule({schedule == "gpipe" ? "afab" : schedule, plan.num_ranks,
                               static_cast<int>(load.num_micro_batches), plan.num_chunks()});
  const std::int64_t needed = makespan_ps(order, pipeline::costs_in_model_time(stages, bytes));
  return {needed, needed + needed / 4, "stage"};
}

}  // namespace lab::optc
