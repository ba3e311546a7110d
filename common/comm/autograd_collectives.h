#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include "common/comm/collectives.h"

namespace lab {

/// Hands the collectives of a differentiable function from its forward to its backward pass. They must live until then.
inline void remember_collectives(torch::autograd::AutogradContext* context, Collectives* collectives) {
  context->saved_data["collectives"] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(collectives));
}

inline Collectives& recall_collectives(torch::autograd::AutogradContext* context) {
  return *reinterpret_cast<Collectives*>(static_cast<std::intptr_t>(context->saved_data["collectives"].toInt()));
}

}  // namespace lab
