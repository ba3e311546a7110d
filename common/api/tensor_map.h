#pragma once

#include <ATen/ATen.h>

#include <map>
#include <string>

namespace lab {

/// Tensors by name, in the order of their names: what a rank returns, what a file holds.
using TensorMap = std::map<std::string, at::Tensor>;

}  // namespace lab
