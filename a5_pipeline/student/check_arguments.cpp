#include "a5_pipeline/arguments.h"

namespace lab::a5 {

void check_arguments(const PipelineArguments& arguments, int pp) {
  // BEGIN SOLUTION a5.check_arguments
  // STUB // TODO(a5.check_arguments): throw UsageError(fmt::format(...)) unless every stage gets a layer, and the global
  // STUB // batch consists of whole micro-batches, at least one.
  // STUB not_implemented("a5.check_arguments", arguments, pp);
  if (arguments.number_of_layers < pp) {
    throw UsageError(
        fmt::format("--number-of-layers {}: expected at least one layer for each of the {} stages; hint: fewer stages "
                    "(--pp) or more layers",
                    arguments.number_of_layers, pp));
  }
  if (arguments.global_batch_size < 1 || arguments.micro_batch_size < 1 ||
      arguments.global_batch_size % arguments.micro_batch_size != 0) {
    throw UsageError(
        fmt::format("--global-batch-size {}: expected a multiple of the micro-batch size, {}; hint: choose "
                    "--micro-batch-size so that it divides",
                    arguments.global_batch_size, arguments.micro_batch_size));
  }
  // END SOLUTION a5.check_arguments
}

}  // namespace lab::a5
