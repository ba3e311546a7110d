#include "a5_pipeline/all_forward_all_backward.h"

#include "a5_pipeline/pipeline_communicate.h"

namespace lab::a5 {

std::vector<at::Tensor> all_forward_all_backward(PipelineStage& stage, DataLoader& data,
                                                 const PipelineArguments& arguments, PointToPoint& p2p) {
  int rank = p2p.rank();
  int size = p2p.size();
  bool is_last = rank == size - 1;
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> outputs;
  std::vector<at::Tensor> results;
  int64_t n = arguments.number_of_micro_batches();

  // forward
  for (int64_t i = 0; i < n; i++) {
    at::Tensor x;
    if (requires_dataloader(rank, size)) {
      x = data.next().to(arguments.device);
      x.requires_grad_();
    } else {
      x = pipeline_communicate(PipelineOperation::kRecvForward, p2p, arguments);
    }
    at::Tensor y = stage.forward(x);
    pipeline_communicate(PipelineOperation::kSendForward, p2p, arguments, y);
    inputs.push_back(x);
    outputs.push_back(y);
    if (is_last) {
      results.push_back(y.detach());
    }
  }

  // backward
  for (int64_t i = 0; i < n; i++) {
    at::Tensor grad = pipeline_communicate(PipelineOperation::kRecvBackward, p2p, arguments);
    at::Tensor out = outputs[i];
    if (is_last) {
      out = out.mean();
    }
    at::Tensor input_grad = stage.backward(inputs[i], out, grad);
    pipeline_communicate(PipelineOperation::kSendBackward, p2p, arguments, input_grad);
  }
  return results;
}

}  // namespace lab::a5
