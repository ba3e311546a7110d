#include "optC_model_parallel/function_call.h"

namespace lab::optc {

TaskCall function_call(const std::function<at::Tensor(const at::Tensor& x, Collectives& comm)>& function) {
  return [=](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = inputs.tensor("input.x").clone().requires_grad_();
    const at::Tensor grad_out = inputs.tensor("input.grad_out").clone();
    const at::Tensor out = function(x, comm.collectives());
    TensorMap results = {{"out", out.detach().clone()}, {"x", x.detach()}};
    if (out.requires_grad()) out.backward(grad_out);
    results["x.grad"] = x.grad();
    results["grad_out"] = grad_out;
    return results;
  };
}

}  // namespace lab::optc
