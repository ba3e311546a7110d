#include "a4_data_tensor/step.h"
#include "common/rank/sent_tensors.h"

// In the program of a judged rank, what model/draws.cpp draws elsewhere.
namespace lab::a4 {

at::Tensor initial_weight(const StepOptions& options) {
  return sent_tensor("weight.W", {options.input_dim, options.output_dim}, options.seed).to(options.device);
}

Batch create_batch(const StepOptions& options) {
  const auto sent = [&](const std::string& name, std::int64_t columns) {
    return sent_tensor(name, {options.global_batch_size, columns}, options.seed).to(options.device);
  };
  return {sent("input.inputs", options.input_dim), sent("input.targets", options.output_dim)};
}

}  // namespace lab::a4
