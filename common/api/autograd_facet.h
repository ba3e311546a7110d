#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>

namespace lab::comm {

/// Passes what a differentiable function communicates with (a Communicator or one of its facets) from its forward to
/// its backward pass. It must live until then.
template <typename Facet>
void remember(torch::autograd::AutogradContext* context, Facet* facet) {
  context->saved_data["facet"] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(facet));
}

/// Returns what remember() stored; Facet must be the same type.
template <typename Facet>
Facet& recall(torch::autograd::AutogradContext* context) {
  return *reinterpret_cast<Facet*>(static_cast<std::intptr_t>(context->saved_data["facet"].toInt()));
}

}  // namespace lab::comm

namespace lab {
using comm::recall;
using comm::remember;
}  // namespace lab
