#include "optC_model_parallel/cases/pipeline_bounds.h"

#include "optC_model_parallel/cases/tensor_bounds.h"

namespace lab::optc {

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

}  // namespace lab::optc
