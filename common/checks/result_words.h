#pragma once

#include <string>

#include "common/tensor/comparison.h"
#include "common/tensor/tensor_map.h"

namespace lab {

/// The first problem with a rank's results, in order of their names; empty: none. Never throws,
/// whatever `actual` holds.
/// Example   "result 'out', element [3, 0]: expected 10, got 2.5 (max diff 7.5; 12 of 12 elements differ)"
///           "result 'y' is missing"; "result 'x.grad' is undefined"; "result 'z' is not one of this task's"
std::string what_is_wrong(const TensorMap& actual, const TensorMap& expected, const Tolerance& tolerance);

/// The same for one result.
std::string what_is_wrong_with(const std::string& name, const at::Tensor& actual, const at::Tensor& expected,
                               const Tolerance& tolerance);

}  // namespace lab
