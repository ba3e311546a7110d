#include "common/tensor/comparison.h"

#include <cmath>
#include <limits>

namespace lab {
namespace {

double worse(double left, double right) {
  return std::isnan(left) || left > right ? left : right;
}

}  // namespace

void CombinedComparison::add(const Comparison& one, std::int64_t numel) {
  worst_.close = worst_.close && one.close;
  worst_.max_diff = worse(worst_.max_diff, one.max_diff);
  worst_.relative_norm = worse(worst_.relative_norm, one.relative_norm);
  sum_ += one.mean_diff * static_cast<double>(numel);
  count_ += numel;
}

void CombinedComparison::add_missing(std::int64_t numel) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  add({false, nan, nan, nan}, numel);
}

Comparison CombinedComparison::result() const {
  Comparison all = worst_;
  all.mean_diff = count_ == 0 ? 0 : sum_ / static_cast<double>(count_);
  return all;
}

}  // namespace lab
