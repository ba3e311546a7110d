#pragma once

#include <string>

#include "common/tensor/comparison.h"
#include "common/tensor/tensor_map.h"

namespace lab {

/// The first thing that is wrong with a rank's results, in the order of their names; empty: nothing. Never throws
/// because of what `actual` holds.
/// Example   "result 'out', element [3, 0]: expected 10, got 2.5 (max diff 7.5; 12 of 12 elements differ)"
///           "result 'y' is missing"; "result 'x.grad' is undefined"; "result 'z' is not one of this task's"
std::string what_is_wrong(const TensorMap& actual, const TensorMap& expected, const Tolerance& tolerance);

/// The same of one result.
std::string what_is_wrong_with(const std::string& name, const at::Tensor& actual, const at::Tensor& expected,
                               const Tolerance& tolerance);

}  // namespace lab
