#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include "common/comm/communicator.h"

namespace lab::a9 {

/// Hands the communicator of a differentiable function from its forward to its backward pass. It must live until then.
inline void remember_communicator(torch::autograd::AutogradContext* context, Communicator* comm) {
  context->saved_data["communicator"] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(comm));
}

inline Communicator& recall_communicator(torch::autograd::AutogradContext* context) {
  return *reinterpret_cast<Communicator*>(static_cast<std::intptr_t>(context->saved_data["communicator"].toInt()));
}

}  // namespace lab::a9
