#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "a9_collectives/chunks.h"

namespace lab::a9 {

/// A new tensor to fill part by part: `count` parts of equal shape, one after the other along `dim`. A contiguous part
/// is received in place, without a copy.
class Assembly {
 public:
  /// like: a tensor with the shape and dtype of one part
  Assembly(const at::Tensor& like, std::int64_t dim, std::int64_t count) : dim_(dim), length_(like.size(dim)) {
    std::vector<std::int64_t> shape = like.sizes().vec();
    shape[static_cast<std::size_t>(dim < 0 ? dim + like.dim() : dim)] *= count;
    whole_ = uninitialized(shape, like);
  }

  at::Tensor part(std::int64_t index) const { return piece(whole_, dim_, index * length_, length_); }
  const at::Tensor& whole() const { return whole_; }

 private:
  std::int64_t dim_;
  std::int64_t length_;
  at::Tensor whole_;
};

}  // namespace lab::a9
