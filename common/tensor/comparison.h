#pragma once

#include <cstdint>
#include <limits>

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

}  // namespace lab
