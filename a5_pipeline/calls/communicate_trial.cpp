#include "a5_pipeline/calls/communicate_trial.h"

namespace lab::a5 {

TensorMap communicate_trial(Communicator& comm, const CaseInputs& inputs, const CommunicateFunction& communicate) {
  const at::Tensor output = inputs.tensor("input.output").clone();
  const at::Tensor input_grad = inputs.tensor("input.input_grad").clone();
  PipelineArguments arguments;
  arguments.micro_batch_size = output.size(0);
  arguments.sequence_length = output.size(1);
  arguments.hidden_size = output.size(2);
  arguments.device = inputs.device;
  PointToPoint& p2p = comm.point_to_point();
  const at::Tensor input = communicate(PipelineOperation::kRecvForward, p2p, arguments, {});
  const at::Tensor nothing = communicate(PipelineOperation::kSendForward, p2p, arguments, output);
  const at::Tensor output_grad = communicate(PipelineOperation::kRecvBackward, p2p, arguments, {});
  const at::Tensor nothing_either = communicate(PipelineOperation::kSendBackward, p2p, arguments, input_grad);
  if (input.defined() && output_grad.defined() && input.storage().data() == output_grad.storage().data())
    throw ResultError("two receives returned the same memory, expected a new tensor each time");
  const auto received = [&](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.detach() : at::zeros(output.sizes(), output.options());
  };
  const auto requires_grad = [](const at::Tensor& tensor) { return tensor.defined() && tensor.requires_grad(); };
  const std::vector<std::int64_t> returned = {input.defined(),       requires_grad(input),
                                              output_grad.defined(), requires_grad(output_grad),
                                              nothing.defined(),     nothing_either.defined()};
  return {{"input", received(input)},
          {"output_grad", received(output_grad)},
          {"output", output},
          {"input_grad", input_grad},
          {"returned", at::tensor(returned, at::kLong)}};
}

}  // namespace lab::a5
