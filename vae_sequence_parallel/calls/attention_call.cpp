#include "vae_sequence_parallel/calls/attention_call.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "vae_sequence_parallel/calls/case_inputs.h"

namespace lab::vae {

TaskCall attention_call(const AttentionFunction& by) {
  return [by](Communicator& comm, const CaseInputs& inputs) {
    const bool with_gradient = inputs.tensors.count("input.grad_out") != 0;
    const c10::AutoGradMode grad_mode(with_gradient);
    TensorMap leaves;
    for (const char* name : {"q", "k", "v"})
      leaves[name] = inputs.tensor(fmt::format("input.{}", name)).clone().requires_grad_(with_gradient);
    const at::Tensor out =
        by(leaves.at("q"), leaves.at("k"), leaves.at("v"), integers(inputs, "input.lengths"), comm, inputs);
    TensorMap results = {{"out", out.detach()}};
    for (const auto& [name, leaf] : leaves) {
      if (out.numel() > 0 && out.is_alias_of(leaf))
        throw ResultError(fmt::format("expected a new tensor, got one that shares memory with {}", name));
      results[name] = leaf.detach();
    }
    if (!with_gradient) return results;
    if (out.requires_grad()) out.backward(inputs.tensor("input.grad_out"));
    for (const auto& [name, leaf] : leaves) results[name + ".grad"] = leaf.grad();
    return results;
  };
}

}  // namespace lab::vae
