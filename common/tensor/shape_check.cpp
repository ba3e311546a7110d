#include "common/tensor/shape_check.h"

#include <fmt/format.h>

#include "common/base/errors.h"

namespace lab {

void check(const at::Tensor& tensor, at::IntArrayRef expected_shape) {
  if (!tensor.defined()) return;
  const at::IntArrayRef shape = tensor.sizes();
  if (shape.size() != expected_shape.size()) {
    throw ContractError(fmt::format("SHAPE GUARD: Expected shape length {} but got {} with shape {}.",
                                    expected_shape.size(), shape.size(), shape_text(shape)));
  }
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (expected_shape[dim] <= 0 || expected_shape[dim] == shape[dim]) continue;
    throw ContractError(fmt::format("SHAPE GUARD: At dimension {}: expected {}, but got {} (actual shape: {}).", dim,
                                    expected_shape[dim], shape[dim], shape_text(shape)));
  }
}

}  // namespace lab
