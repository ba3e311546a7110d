#pragma once

#include <cstdint>

#include "common/tensor/comparison.h"

namespace lab {

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
