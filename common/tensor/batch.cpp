#include "common/tensor/batch.h"

#include <fmt/format.h>

#include "common/api/errors.h"
#include "common/tensor/seeded.h"

namespace lab {

Batch create_batch(int64_t batch_size, int64_t input_dim, int64_t output_dim, uint64_t seed) {
  if (batch_size < 0 || input_dim < 0 || output_dim < 0) {
    throw ContractError(fmt::format("A batch of {} samples with {} inputs and {} outputs: no size may be negative.",
                                    batch_size, input_dim, output_dim));
  }
  const at::Generator generator = make_generator(seed);
  Batch batch;
  batch.inputs = at::randn({batch_size, input_dim}, generator);
  batch.targets = at::randn({batch_size, output_dim}, generator);
  return batch;
}

}  // namespace lab
