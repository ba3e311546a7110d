#include "a5_pipeline/arguments.h"

namespace lab::a5 {

void check_arguments(const PipelineArguments& arguments, int pp) {
  if (pp > arguments.number_of_layers) {
    throw UsageError(fmt::format("{} stages need at least {} layers, got {}", pp, pp, arguments.number_of_layers));
  }
  if (arguments.micro_batch_size <= 0 || arguments.global_batch_size <= 0) {
    throw UsageError(fmt::format("batch sizes must be positive"));
  }
  if (arguments.global_batch_size % arguments.micro_batch_size != 0) {
    throw UsageError(fmt::format("global batch size {} is not a multiple of micro batch size {}",
                                 arguments.global_batch_size, arguments.micro_batch_size));
  }
}

}  // namespace lab::a5
