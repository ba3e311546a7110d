#pragma once

#include <ATen/ATen.h>

#include "common/api/point_to_point.h"

namespace lab::b1 {

/// The sum of all ranks' tensors, on every rank.
/// Call      collective, blocking, no autograd
/// Aliasing  x is not changed
at::Tensor total(const at::Tensor& x, PointToPoint& p2p);

}  // namespace lab::b1
