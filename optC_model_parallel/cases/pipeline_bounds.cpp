#include "optC_model_parallel/cases/pipeline_bounds.h"

#include "common/pipeline/generators.h"
#include "common/pipeline/model_costs.h"
#include "optC_model_parallel/cases/tensor_bounds.h"

namespace lab::optc {
namespace {

/// The products of the stage's layers.
std::int64_t forward_flops(const StagePlan& plan, int stage, std::int64_t num_images) {
  double multiply_adds = 0;
  for (const LayerSpec& layer : plan.layers(stage).layers) multiply_adds += layer.multiply_adds;
  return 2 * num_images * static_cast<std::int64_t>(multiply_adds);
}

}  // namespace

std::vector<CostBound> pipeline_bounds(const std::string& task, const StagePlan& plan, int rank,
                                       std::int64_t num_images, std::int64_t num_micro_batches) {
  std::int64_t num_borders = 0, values_of_image = 0;
  for (int chunk = 0; chunk < plan.num_chunks() && plan.num_ranks > 1; ++chunk) {
    const int stage = plan.numbers().stage_of(rank, chunk);
    for (const int before : {stage - 1, stage}) {  // the border after this stage
      if (before < 0 || before == plan.num_stages() - 1) continue;
      ++num_borders;
      values_of_image += plan.out_shape(before).front();
    }
  }
  CostBound own;
  own.operation = task;
  own.min_messages = own.max_messages = static_cast<std::uint64_t>(num_borders * num_micro_batches);
  own.max_bytes_sent = static_cast<std::uint64_t>(num_images * values_of_image) * sizeof(double);
  own.min_bytes_received = own.max_bytes_sent;  // over each border as much goes out as comes in
  std::vector<CostBound> bounds = at_most("message", {}, plan.num_ranks);
  bounds.push_back(own);
  return bounds;
}

ShareBound pipeline_work(const StagePlan& plan, int rank, std::int64_t num_images) {
  std::int64_t all = 0, own = 0;
  for (int stage = 0; stage < plan.num_stages(); ++stage) {
    const std::int64_t flops = 3 * forward_flops(plan, stage, num_images);
    all += flops;
    if (plan.numbers().rank_of_stage(stage) == rank) own += flops;
  }
  return {all, own + own / 4};
}

TimeBound pipeline_time(const StagePlan& plan, const std::string& schedule, std::int64_t num_images,
                        std::int64_t num_micro_batches) {
  pipeline::ScheduleOptions options;
  options.kind = schedule == "gpipe" ? "afab" : schedule;
  options.num_ranks = plan.num_ranks;
  options.num_micro_batches = static_cast<int>(num_micro_batches);
  options.num_chunks = plan.num_chunks();
  const std::int64_t images = num_images / num_micro_batches;
  std::vector<pipeline::StageWorkload> stages;
  for (int stage = 0; stage < plan.num_stages(); ++stage) {
    const std::int64_t flops = forward_flops(plan, stage, images);
    stages.push_back({flops, flops, flops});
  }
  const auto bytes = images * plan.out_shape(0).front() * static_cast<std::int64_t>(sizeof(double));
  const std::int64_t needed =
      makespan_ps(pipeline::make_schedule(options), pipeline::costs_in_model_time(stages, bytes));
  return {needed, needed + needed / 4, "stage"};
}

}  // namespace lab::optc
