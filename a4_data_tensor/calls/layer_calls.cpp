#include "a4_data_tensor/calls/layer_calls.h"

namespace lab::a4 {
namespace {

at::Tensor leaf(const CaseInputs& inputs, const std::string& name) {
  return inputs.tensor(name).clone().requires_grad_();
}

/// Backward from `out`, if that is possible: a missing graph, and another shape, show in the results.
void go_backward(const at::Tensor& out, const at::Tensor& grad_out) {
  if (out.defined() && out.requires_grad() && out.sizes() == grad_out.sizes()) out.backward(grad_out);
}

at::Tensor without_graph(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.detach() : tensor;
}

}  // namespace

TaskCall function_call(const std::function<at::Tensor(const at::Tensor& x, Collectives&)>& function) {
  return [function](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = leaf(inputs, "input.x"), grad_out = inputs.tensor("input.grad_out").clone();
    const at::Tensor out = function(x, comm.collectives());
    // Copied before the backward pass, which must change neither.
    TensorMap results = {{"out", out.defined() ? out.detach().clone() : out}};
    go_backward(out, grad_out);
    results["x.grad"] = x.grad();
    results["x"] = x.detach();
    results["grad_out"] = grad_out;
    return results;
  };
}

TensorMap layer_results(const CaseInputs& inputs, const std::string& x_name, const LayerUnderTest& layer) {
  const at::Tensor x = leaf(inputs, "input." + x_name);
  const at::Tensor out = layer.forward(x);
  go_backward(out, inputs.tensor("input.grad_out").clone());
  TensorMap results = {{"out", without_graph(out)}, {x_name + ".grad", x.grad()}, {x_name, x.detach()}};
  for (const auto& [name, weight] : layer.weights) {
    if (!weight.defined()) continue;
    results[name + ".grad"] = weight.grad();
    results[name] = weight.detach();
  }
  return results;
}

}  // namespace lab::a4
