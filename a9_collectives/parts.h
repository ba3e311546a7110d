#pragma once

#include <ATen/ATen.h>

#include "common/comm/point_to_point.h"

namespace lab::a9 {

/// The result of an all-gather while it is filled: one row of elements in P equal parts, part r being rank r's tensor.
/// This rank's own part is there from the start.
class Parts {
 public:
  /// tensor: [N, ...], this rank's
  Parts(const at::Tensor& tensor, const PointToPoint& p2p);

  at::Tensor own() const { return part(rank_); }
  at::Tensor part(int index) const { return range(index, index + 1); }
  /// Parts [begin, end) as one tensor.
  at::Tensor range(int begin, int end) const;
  const at::Tensor& whole() const { return row_; }

  /// The row as [P*N, ...].
  at::Tensor result() const;

 private:
  int rank_;
  std::vector<std::int64_t> shape_;
  std::int64_t part_numel_;
  at::Tensor row_;
};

}  // namespace lab::a9
