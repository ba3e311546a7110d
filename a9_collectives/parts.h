#pragma once

#include <ATen/ATen.h>

#include "common/api/point_to_point.h"

namespace lab::a9 {

/// The result of an all-gather while it is filled: P equal parts along dim 0; part r is rank r's tensor. This rank's
/// own part is there from the start. Parts keep the tensor's shape, so every message exposes a rank whose shape
/// differs.
/// To send, own() and part() give this rank's tensor itself where it is contiguous: the memory of the copy of it has only
/// just been written, and is slow to read for another core.
class Parts {
 public:
  /// tensor: this rank's, [N, ...]
  Parts(const at::Tensor& tensor, const PointToPoint& p2p);

  at::Tensor own() const { return own_; }
  at::Tensor part(int index) const { return index == rank_ ? own_ : range(index, index + 1); }
  /// Parts [begin, end) of the result as one tensor.
  at::Tensor range(int begin, int end) const;
  const at::Tensor& whole() const { return whole_; }  ///< [P*N, ...]

 private:
  int rank_;
  std::int64_t length_;  ///< N
  at::Tensor whole_, own_;
};

}  // namespace lab::a9
