#include "a9_collectives/parts.h"

#include "a9_collectives/chunks.h"

namespace lab::a9 {

Parts::Parts(const at::Tensor& tensor, const PointToPoint& p2p) : rank_(p2p.rank()), length_(tensor.size(0)) {
  std::vector<std::int64_t> shape = tensor.sizes().vec();
  shape[0] *= p2p.size();
  whole_ = uninitialized(shape, tensor);
  own_ = detached(tensor);
  const at::Tensor place = range(rank_, rank_ + 1);
  copy_into(own_, place);
  if (!own_.is_contiguous()) own_ = place;
}

at::Tensor Parts::range(int begin, int end) const {
  return piece(whole_, 0, begin * length_, (end - begin) * length_);
}

}  // namespace lab::a9
