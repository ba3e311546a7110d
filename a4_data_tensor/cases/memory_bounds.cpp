#include "a4_data_tensor/cases/memory_bounds.h"

#include "a4_data_tensor/cases/division.h"

namespace lab::a4 {
namespace {

constexpr auto kBytes = static_cast<std::int64_t>(sizeof(float));

}  // namespace

std::function<ShareBound(const CasePlace&)> data_parallel_memory(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const StepOptions step = sizes_for(place.size).step;
    const std::int64_t rows = step.global_batch_size, in = step.input_dim, out = step.output_dim;
    const std::int64_t given = rows * (in + out), activations = (2 * in + 6 * out) * rows;
    return ShareBound{kBytes * (given + 5 * in * out + activations),
                      kBytes * (given + (5 + 2 * place.size) * in * out + share_of_rank(activations, place))};
  };
}

std::function<ShareBound(const CasePlace&)> column_step_memory(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const StepOptions step = sizes_for(place.size).step;
    const std::int64_t rows = step.global_batch_size, in = step.input_dim, out = step.output_dim;
    const std::int64_t others = rows * (in + out) + (2 * in + 8 * out) * rows;
    return ShareBound{kBytes * (others + 5 * in * out),
                      kBytes * (others + 3 * in * out + share_of_rank(4 * in * out, place))};
  };
}

std::function<ShareBound(const CasePlace&)> layer_memory(const SizesFor& sizes_for, std::int64_t num_weights) {
  return [=](const CasePlace& place) {
    const LabSizes sizes = sizes_for(place.size);
    const std::int64_t weights = 4 * num_weights * sizes.step.input_dim * sizes.step.output_dim;
    const std::int64_t activations = sizes.layer_batch * (sizes.step.input_dim + sizes.step.output_dim);
    return ShareBound{kBytes * (weights + 8 * activations),
                      kBytes * (share_of_rank(weights, place) + (8 + 2 * place.size) * activations)};
  };
}

}  // namespace lab::a4
