#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/tensor/comparison.h"

namespace lab {

/// Whether two tensors can be compared: both defined, of the same shape and dtype.
bool comparable(const at::Tensor& actual, const at::Tensor& expected);

/// Compares element by element, as torch.allclose(actual, expected): |actual - expected| <= atol + rtol * |expected|.
/// Special   NaN never matches, on either side, and makes the differences NaN; equal infinities match with
///           difference 0; empty tensors match with zeros
/// Dtypes    float32 and float64: differences in the tensor's own dtype, so that the digits are Python's. float16 and
///           bfloat16: in float64. Integers and bool: equal or not, without a tolerance, differences without overflow.
///           Complex: real and imaginary parts as separate elements. relative_norm is always computed in float64.
/// Errors    ContractError: they are not comparable(); both are named
Comparison compare(const at::Tensor& actual, const at::Tensor& expected, const Tolerance& tolerance = {});

/// Where two tensors first differ, with every digit of the dtype.
struct FirstDifference {
  std::vector<int64_t> index;  ///< for a complex tensor with one more: 0 real, 1 imaginary
  std::string expected;
  std::string actual;
  int64_t num_different = 0;  ///< elements that are not close, this one among them
};

/// The first element, in row-major order, that compare() does not find close; none if all are.
/// Errors    as compare()
std::optional<FirstDifference> first_difference(const at::Tensor& actual, const at::Tensor& expected,
                                                const Tolerance& tolerance = {});

}  // namespace lab
