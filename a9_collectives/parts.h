#pragma once

#include <ATen/ATen.h>

#include "common/comm/point_to_point.h"

namespace lab::a9 {

/// The result of an all-gather while it is filled: P equal parts along dim 0; part r is rank r's tensor. This rank's
/// own part is there from the start. Parts keep the tensor's shape, so every message exposes a rank whose shape
/// differs.
class Parts {
 public:
  /// tensor: this rank's, [N, ...]
  Parts(const at::Tensor& tensor, const PointToPoint& p2p);

  at::Tensor own() const { return part(rank_); }
  at::Tensor part(int index) const { return range(index, index + 1); }
  /// Parts [begin, end) as one tensor.
  at::Tensor range(int begin, int end) const;
  const at::Tensor& whole() const { return whole_; }  ///< [P*N, ...]

 private:
  int rank_;
  std::int64_t length_;  ///< N
  at::Tensor whole_;
};

}  // namespace lab::a9
