#include <fmt/format.h>

#include "a4_data_tensor/step.h"
#include "common/api/errors.h"
#include "common/tensor/seeded.h"

// What follows from the seed. In the program of a judged rank, calls/sent.cpp is in its place.
namespace lab::a4 {

at::Tensor initial_weight(const StepOptions& options) {
  return seeded_randn({options.input_dim, options.output_dim}, options.seed).to(options.device);
}

Batch create_batch(const StepOptions& options) {
  const std::int64_t size = options.global_batch_size, inputs = options.input_dim, outputs = options.output_dim;
  if (size < 0 || inputs < 0 || outputs < 0) {
    throw ContractError(fmt::format("A batch of {} samples with {} inputs and {} outputs: no size may be negative.",
                                    size, inputs, outputs));
  }
  const at::Generator generator = make_generator(options.seed);
  const at::Tensor drawn = at::randn({size, inputs}, generator);
  return {drawn.to(options.device), at::randn({size, outputs}, generator).to(options.device)};
}

}  // namespace lab::a4
