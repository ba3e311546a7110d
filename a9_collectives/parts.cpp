#include "a9_collectives/parts.h"

namespace lab::a9 {

Parts::Parts(const at::Tensor& tensor, const PointToPoint& p2p)
    : rank_(p2p.rank()),
      shape_(tensor.sizes().vec()),
      part_numel_(tensor.numel()),
      row_(at::empty({p2p.size() * tensor.numel()}, tensor.options().requires_grad(false))) {
  own().view(tensor.sizes()).copy_(tensor.detach());
  shape_[0] *= p2p.size();
}

at::Tensor Parts::range(int begin, int end) const {
  return row_.narrow(0, begin * part_numel_, (end - begin) * part_numel_);
}

at::Tensor Parts::result() const {
  return row_.view(shape_);
}

}  // namespace lab::a9
