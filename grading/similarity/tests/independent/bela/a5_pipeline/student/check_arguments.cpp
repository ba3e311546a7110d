#include "a5_pipeline/arguments.h"

namespace lab::a5 {

void check_arguments(const PipelineArguments& arguments, int pp) {
  const auto& a = arguments;
  if (a.number_of_layers < pp)
    throw UsageError(fmt::format("expected at least {} layers, got {}", pp, a.number_of_layers));
  const bool whole = a.micro_batch_size > 0 && a.global_batch_size > 0 && a.global_batch_size % a.micro_batch_size == 0;
  if (!whole)
    throw UsageError(fmt::format("a batch of {} is not cut into micro-batches of {}", a.global_batch_size, a.micro_batch_size));
}

}  // namespace lab::a5
