#include "a4_data_tensor/cases/work_bounds.h"

namespace lab::a4 {
namespace {

// Of a loss and its gradient, of an update of a weight: written out, they take up to this many operators per element.
constexpr std::int64_t kPerElement = 12;

/// The part of a rank, rounded up.
std::int64_t part(std::int64_t whole, const CasePlace& place) {
  return (whole + place.size - 1) / place.size;
}

}  // namespace

std::function<WorkBound(const CasePlace&)> data_parallel_work(const LabSizes& sizes) {
  const StepOptions step = sizes.step;
  return [step](const CasePlace& place) {
    const std::int64_t products = 4 * step.global_batch_size * step.input_dim * step.output_dim;
    const std::int64_t loss = kPerElement * step.global_batch_size * step.output_dim;
    const std::int64_t update = kPerElement * step.input_dim * step.output_dim;
    return WorkBound{products + loss + update, part(products, place) + part(loss, place) + update};
  };
}

std::function<WorkBound(const CasePlace&)> column_step_work(const LabSizes& sizes) {
  const StepOptions step = sizes.step;
  return [step](const CasePlace& place) {
    const std::int64_t products = 4 * step.global_batch_size * step.input_dim * step.output_dim;
    const std::int64_t loss = kPerElement * step.global_batch_size * step.output_dim;
    const std::int64_t update = kPerElement * step.input_dim * step.output_dim;
    return WorkBound{products + loss + update, part(products, place) + loss + part(update, place)};
  };
}

std::function<WorkBound(const CasePlace&)> layer_work(const LabSizes& sizes, std::int64_t batch,
                                                      std::int64_t num_products) {
  const std::int64_t in = sizes.step.input_dim, out = sizes.step.output_dim;
  return [=](const CasePlace& place) {
    const std::int64_t products = 2 * num_products * batch * in * out;
    const std::int64_t others = 4 * batch * (in + out) + part(2 * in * out, place);
    return WorkBound{products + others, part(products, place) + others};
  };
}

}  // namespace lab::a4
