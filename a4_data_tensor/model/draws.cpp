#include "a4_data_tensor/step.h"
#include "common/tensor/seeded.h"

// What follows from the seed. In the program of a judged rank, calls/sent.cpp is in its place.
namespace lab::a4 {

at::Tensor initial_weight(const StepOptions& options) {
  return seeded_randn({options.input_dim, options.output_dim}, options.seed).to(options.device);
}

Batch create_batch(const StepOptions& options) {
  const Batch batch = lab::create_batch(options.global_batch_size, options.input_dim, options.output_dim, options.seed);
  return {batch.inputs.to(options.device), batch.targets.to(options.device)};
}

}  // namespace lab::a4
