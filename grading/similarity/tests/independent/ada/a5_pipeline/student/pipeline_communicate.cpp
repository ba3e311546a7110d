#include "a5_pipeline/pipeline_communicate.h"

namespace lab::a5 {

at::Tensor pipeline_communicate(PipelineOperation operation, PointToPoint& p2p, const PipelineArguments& arguments,
                                const at::Tensor& tensor) {
  const bool sends = operation == PipelineOperation::kSendForward || operation == PipelineOperation::kSendBackward;
  const bool first = p2p.rank() == 0, last = p2p.rank() == p2p.size() - 1;
  bool nothing_to_do = false;
  int peer = p2p.rank();
  switch (operation) {
    case PipelineOperation::kRecvForward:
      nothing_to_do = first;
      peer = p2p.rank() - 1;
      break;
    case PipelineOperation::kSendForward:
      nothing_to_do = last;
      peer = p2p.rank() + 1;
      break;
    case PipelineOperation::kRecvBackward:
      nothing_to_do = last;
      peer = p2p.rank() + 1;
      break;
    case PipelineOperation::kSendBackward:
      nothing_to_do = first;
      peer = p2p.rank() - 1;
      break;
  }
  if (nothing_to_do) return {};
  if (sends) {
    if (!tensor.defined())
      throw ContractError(fmt::format("pipeline_communicate: nothing to send to rank {}; expected {}", peer,
                                      shape_text(arguments.activation_shape())));
    p2p.send(tensor.detach(), peer);
    return {};
  }
  const at::Tensor received = at::empty(arguments.activation_shape(), arguments.tensor_options());
  p2p.recv(received, peer);
  return received.requires_grad_();
}

}  // namespace lab::a5
