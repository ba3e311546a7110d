#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace lab::optc {

/// The numbers of a float64 tensor, in order.
inline std::vector<double> doubles_in(const at::Tensor& tensor) {
  const at::Tensor numbers = tensor.contiguous();
  return {numbers.data_ptr<double>(), numbers.data_ptr<double>() + numbers.numel()};
}

}  // namespace lab::optc
