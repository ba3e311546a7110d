#include "a4_data_tensor/cases/work_bounds.h"

#include "a4_data_tensor/cases/division.h"

namespace lab::a4 {
namespace {

// Operations per element of a loss with its gradient, and of an update of a weight, by LibTorch's operators.
constexpr std::int64_t kOfLoss = 6, kOfUpdate = 2;
// Written out, either takes up to this many operators.
constexpr std::int64_t kPerElement = 12;

}  // namespace

std::function<ShareBound(const CasePlace&)> data_parallel_work(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const StepOptions step = sizes_for(place.size).step;
    const std::int64_t products = 4 * step.global_batch_size * step.input_dim * step.output_dim;
    const std::int64_t outputs = step.global_batch_size * step.output_dim;
    const std::int64_t weights = step.input_dim * step.output_dim;
    return ShareBound{
        products + kOfLoss * outputs + kOfUpdate * weights,
        share_of_rank(products, place) + share_of_rank(kPerElement * outputs, place) + kPerElement * weights};
  };
}

std::function<ShareBound(const CasePlace&)> column_step_work(const SizesFor& sizes_for) {
  return [=](const CasePlace& place) {
    const StepOptions step = sizes_for(place.size).step;
    const std::int64_t products = 4 * step.global_batch_size * step.input_dim * step.output_dim;
    const std::int64_t outputs = step.global_batch_size * step.output_dim;
    const std::int64_t weights = step.input_dim * step.output_dim;
    return ShareBound{
        products + kOfLoss * outputs + kOfUpdate * weights,
        share_of_rank(products, place) + kPerElement * outputs + share_of_rank(kPerElement * weights, place)};
  };
}

std::function<ShareBound(const CasePlace&)> layer_work(const SizesFor& sizes_for, std::int64_t num_products) {
  return [=](const CasePlace& place) {
    const LabSizes sizes = sizes_for(place.size);
    const std::int64_t in = sizes.step.input_dim, out = sizes.step.output_dim, batch = sizes.layer_batch;
    const std::int64_t products = 2 * num_products * batch * in * out;
    const std::int64_t others = (4 + place.size) * batch * (in + out) + share_of_rank(2 * in * out, place);
    return ShareBound{products, share_of_rank(products, place) + others};
  };
}

}  // namespace lab::a4
