#include "optC_model_parallel/live_micro_batches.h"

namespace lab::optc {

at::Tensor LiveMicroBatches::forward(int micro_batch, const at::Tensor& input, const StageFunction& function) {
  if (live_.count(micro_batch) != 0)
    throw ContractError(fmt::format(
        "LiveMicroBatches::forward: micro-batch {} is live already; hint: backward() must come first", micro_batch));
  if (recompute_) {
    // BEGIN SOLUTION optC.recompute
    // STUB // TODO(optC.recompute): the output, and nothing kept of what lies between it and the input.
    // STUB not_implemented("optC.recompute", micro_batch, input, function);
    const at::NoGradGuard no_graph;
    live_[micro_batch] = {input, at::Tensor(), function};
    return function(input);
    // END SOLUTION optC.recompute
  }
  // BEGIN SOLUTION optC.stage
  // STUB // TODO(optC.stage): make the input a leaf that requires a gradient, run the function, keep both ends of the
  // STUB // graph. What is returned belongs to no graph: the next stage begins one of its own.
  // STUB not_implemented("optC.stage", micro_batch, input, function);
  const at::Tensor output = function(input.requires_grad_());
  live_[micro_batch] = {input, output, StageFunction()};
  return output.detach();
  // END SOLUTION optC.stage
}

at::Tensor LiveMicroBatches::backward(int micro_batch, const at::Tensor& output_grad) {
  const auto found = live_.find(micro_batch);
  if (found == live_.end())
    throw ContractError(fmt::format(
        "LiveMicroBatches::backward: micro-batch {} is not live; hint: once for each forward()", micro_batch));
  Live& one = found->second;
  if (recompute_) {
    // BEGIN SOLUTION optC.recompute
    // STUB // TODO(optC.recompute): now the graph is needed: one.output, as optC.stage would have kept it.
    // STUB not_implemented("optC.recompute", one);
    one.output = one.function(one.input.requires_grad_());
    // END SOLUTION optC.recompute
  }
  // BEGIN SOLUTION optC.stage
  // STUB // TODO(optC.stage): backward from the output; of a loss, output_grad is undefined, as autograd takes it. Then
  // STUB // nothing of this micro-batch may be left here.
  // STUB not_implemented("optC.stage", one, output_grad);
  one.output.backward(output_grad);
  const at::Tensor input_grad = one.input.grad();
  live_.erase(found);
  return input_grad;
  // END SOLUTION optC.stage
}

}  // namespace lab::optc
