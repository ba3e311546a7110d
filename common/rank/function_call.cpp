#include "common/rank/function_call.h"

#include <torch/csrc/autograd/autograd.h>

namespace lab {

TaskCall function_call(const std::function<at::Tensor(const at::Tensor& x, Collectives&)>& function) {
  return [function](Communicator& comm, const CaseInputs& inputs) {
    const bool is_strided = inputs.numbers.count("strided") != 0;
    TensorMap results, leaves, outs;
    for (const std::string prefix : {"", "first.", "second.", "third."}) {
      if (inputs.tensors.count("input." + prefix + "x") == 0) continue;
      const at::Tensor x = inputs.tensor("input." + prefix + "x").clone();
      const at::Tensor grad_out = inputs.tensor("input." + prefix + "grad_out").clone();
      leaves[prefix] = (is_strided ? with_other_strides(x) : x).requires_grad_();
      results[prefix + "x"] = leaves[prefix].detach();
      results[prefix + "grad_out"] = is_strided ? with_other_strides(grad_out) : grad_out;
      outs[prefix] = function(leaves[prefix], comm.collectives());
    }
    // Copied when all are there, and before the backward pass: neither may change another's.
    for (const auto& [prefix, out] : outs) results[prefix + "out"] = out.defined() ? out.detach().clone() : out;
    // One after the other: of several outputs in one call, a device's thread takes whichever it sees first, and ranks
    // would call collectives in different orders. Each gradient as the function returns it, where a leaf would keep a
    // copy.
    for (const auto& [prefix, out] : outs) {
      const at::Tensor& grad_out = results[prefix + "grad_out"];
      at::Tensor& x_grad = results[prefix + "x.grad"];
      if (can_go_backward(out, grad_out))
        x_grad = torch::autograd::grad({out}, {leaves[prefix]}, {grad_out}, {}, false, true).front();
    }
    return results;
  };
}

}  // namespace lab
