#include "a5_pipeline/all_forward_all_backward.h"

#include "a5_pipeline/pipeline_communicate.h"

namespace lab::a5 {

std::vector<at::Tensor> all_forward_all_backward(PipelineStage& stage, DataLoader& data,
                                                 const PipelineArguments& arguments, PointToPoint& p2p) {
  // BEGIN SOLUTION a5.all_forward_all_backward
  // STUB // TODO(a5.all_forward_all_backward): for each micro-batch: input from the data loader or from the stage
  // STUB // before, forward, output to the next stage; keep both. Then for each micro-batch, in the same order:
  // STUB // gradient of the output from the next stage, or on the last stage the mean of the output as loss; backward;
  // STUB // gradient of the input to the stage before.
  // STUB not_implemented("a5.all_forward_all_backward", stage, data, arguments, p2p);
  const bool last = p2p.rank() == p2p.size() - 1;
  const auto num_micro_batches = static_cast<std::size_t>(arguments.number_of_micro_batches());
  std::vector<at::Tensor> inputs, outputs, results;
  for (std::size_t i = 0; i < num_micro_batches; ++i) {
    at::Tensor input = pipeline_communicate(PipelineOperation::kRecvForward, p2p, arguments);
    // The data needs no gradient, but autograd must have a leaf to stop at.
    if (requires_dataloader(p2p.rank(), p2p.size())) input = data.next().to(arguments.device).requires_grad_();
    check(input, arguments.activation_shape());
    const at::Tensor output = stage.forward(input);
    pipeline_communicate(PipelineOperation::kSendForward, p2p, arguments, output);
    if (last) results.push_back(output.detach());
    inputs.push_back(input);
    outputs.push_back(output);
  }
  for (std::size_t i = 0; i < num_micro_batches; ++i) {
    const at::Tensor output_grad = pipeline_communicate(PipelineOperation::kRecvBackward, p2p, arguments);
    const at::Tensor target = last ? outputs[i].mean() : outputs[i];
    const at::Tensor input_grad = stage.backward(inputs[i], target, output_grad);
    pipeline_communicate(PipelineOperation::kSendBackward, p2p, arguments, input_grad);
    inputs[i] = outputs[i] = at::Tensor();  // this micro-batch is no longer live
  }
  return results;
  // END SOLUTION a5.all_forward_all_backward
}

}  // namespace lab::a5
