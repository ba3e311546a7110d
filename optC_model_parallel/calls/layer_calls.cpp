#include "optC_model_parallel/calls/layer_calls.h"

#include <c10/core/GradMode.h>

namespace lab::optc {

bool is_statistic(const std::string& tensor_name) {
  return tensor_name.find("running_") != std::string::npos;
}

namespace {

/// Backward from `out`, if that is possible: a missing graph, and another shape, show in the results.
void go_backward(const at::Tensor& out, const at::Tensor& grad_out) {
  if (out.defined() && out.requires_grad() && out.sizes() == grad_out.sizes()) out.backward(grad_out);
}

at::Tensor without_graph(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.detach() : tensor;
}

}  // namespace

TaskCall function_call(const std::function<at::Tensor(const at::Tensor& x, Collectives& comm)>& function) {
  return [=](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = inputs.tensor("input.x").clone().requires_grad_();
    const at::Tensor grad_out = inputs.tensor("input.grad_out").clone();
    const at::Tensor out = function(x, comm.collectives());
    // Copied before the backward pass, which must change neither.
    TensorMap results = {{"out", out.defined() ? out.detach().clone() : out}, {"x", x.detach()}};
    go_backward(out, grad_out);
    results["x.grad"] = x.grad();
    results["grad_out"] = grad_out;
    return results;
  };
}

TaskCall sharded_layer_call(const std::vector<std::string>& names, const ShardedForward& forward) {
  return [=](Communicator& comm, const CaseInputs& inputs) {
    const bool with_gradient = inputs.tensors.count("input.grad_out") != 0;
    const c10::AutoGradMode grad_mode(with_gradient);
    const at::Tensor x = inputs.tensor("input.x").clone().requires_grad_(with_gradient);
    Tensors shards;
    for (const std::string& name : names) {
      shards.push_back(is_statistic(name) ? inputs.tensor("input." + name).clone()
                                          : inputs.tensor("weight." + name).clone().requires_grad_(with_gradient));
    }
    const at::Tensor out = forward(x, shards, inputs, comm.collectives());
    TensorMap results = {{"out", without_graph(out)}, {"x", x.detach()}};
    if (with_gradient) {
      go_backward(out, inputs.tensor("input.grad_out").clone());
      results["x.grad"] = x.grad();
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      results[names[i]] = shards[i].detach();
      if (with_gradient && !is_statistic(names[i])) results[names[i] + ".grad"] = shards[i].grad();
    }
    return results;
  };
}

}  // namespace lab::optc
