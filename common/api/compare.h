#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

// Compares tensors as torch.allclose() does, and says how far apart they are, and where.
namespace lab {

/// How far an actual value may be from the expected one.
struct Tolerance {
  double rtol = 1e-5;  ///< per element, relative to |expected|
  double atol = 1e-5;  ///< per element
  /// On the whole tensor, in addition to the elements: ||actual - expected|| <= relative_norm * ||expected||.
  /// Infinity: unused. With atol = infinity the norm alone decides.
  double relative_norm = std::numeric_limits<double>::infinity();
};

/// What a comparison of two tensors found: the numbers of a match line. Contains no tensors: reports need no LibTorch.
struct Comparison {
  bool close = false;
  double max_diff = 0;
  double mean_diff = 0;
  double relative_norm = 0;  ///< ||actual - expected|| / ||expected||: 0 if both are zero, infinity if only expected is
};

/// Several comparisons reported as one: close if all are, the worst differences, the mean over all elements. NaN is the
/// worst of all.
class CombinedComparison {
 public:
  /// `numel`: of the expected tensor.
  void add(const Comparison& one, std::int64_t numel);

  /// The same for a missing tensor: not close, and NaN.
  void add_missing(std::int64_t numel);

  /// If nothing was added: close, and zeros.
  Comparison result() const;

 private:
  Comparison worst_{true, 0, 0, 0};
  double sum_ = 0;
  std::int64_t count_ = 0;
};

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
