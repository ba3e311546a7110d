#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "optC_model_parallel/model/training/optimizer.h"

namespace lab::optc {

/// What decides the numbers of a training, whoever carries it out.
struct TrainingOptions {
  std::string model = "tutorial";
  at::ScalarType dtype = at::kDouble;
  std::uint64_t seed = 42;
  std::int64_t batch_size = 32;
  std::int64_t num_epochs = 4;
  OptimizerOptions optimizer;
};

/// How ranks share the work of a pipeline.
struct PipelineOptions {
  std::string schedule = "gpipe";      ///< one of schedule_names()
  std::int64_t num_micro_batches = 4;  ///< of a batch; pipedream and pipedream-sync always take whole batches
  int num_chunks = 1;                  ///< of each rank; interleaved usually 2
  bool recompute = false;              ///< forget activations, and compute them again in the backward pass
};

}  // namespace lab::optc
