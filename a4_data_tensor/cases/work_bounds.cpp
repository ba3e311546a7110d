#include "a4_data_tensor/cases/work_bounds.h"

namespace lab::a4 {
namespace {

// Operations per element of a loss with its gradient, and of an update of a weight, by LibTorch's operators.
constexpr std::int64_t kOfLoss = 6, kOfUpdate = 2;
// Written out, either takes up to this many operators.
constexpr std::int64_t kPerElement = 12;

/// The part of a rank, rounded up.
std::int64_t part(std::int64_t whole, const CasePlace& place) {
  return (whole + place.size - 1) / place.size;
}

}  // namespace

std::function<ShareBound(const CasePlace&)> data_parallel_work(const LabSizes& sizes) {
  const StepOptions step = sizes.step;
  return [step](const CasePlace& place) {
    const std::int64_t products = 4 * step.global_batch_size * step.input_dim * step.output_dim;
    const std::int64_t outputs = step.global_batch_size * step.output_dim;
    const std::int64_t weights = step.input_dim * step.output_dim;
    return ShareBound{products + kOfLoss * outputs + kOfUpdate * weights,
                      part(products, place) + part(kPerElement * outputs, place) + kPerElement * weights};
  };
}

std::function<ShareBound(const CasePlace&)> column_step_work(const LabSizes& sizes) {
  const StepOptions step = sizes.step;
  return [step](const CasePlace& place) {
    const std::int64_t products = 4 * step.global_batch_size * step.input_dim * step.output_dim;
    const std::int64_t outputs = step.global_batch_size * step.output_dim;
    const std::int64_t weights = step.input_dim * step.output_dim;
    return ShareBound{products + kOfLoss * outputs + kOfUpdate * weights,
                      part(products, place) + kPerElement * outputs + part(kPerElement * weights, place)};
  };
}

std::function<ShareBound(const CasePlace&)> layer_work(const LabSizes& sizes, std::int64_t batch,
                                                       std::int64_t num_products) {
  const std::int64_t in = sizes.step.input_dim, out = sizes.step.output_dim;
  return [=](const CasePlace& place) {
    const std::int64_t products = 2 * num_products * batch * in * out;
    const std::int64_t others = 4 * batch * (in + out) + part(2 * in * out, place);
    return ShareBound{products, part(products, place) + others};
  };
}

}  // namespace lab::a4
