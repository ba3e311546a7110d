#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "optC_model_parallel/model/training/optimizer.h"

namespace lab::optc {

/// The options that determine a training's numbers, however it is run.
struct TrainingOptions {
  std::string model = "tutorial";
  at::ScalarType dtype = at::kDouble;
  at::Device device = at::kCPU;  ///< where weights and activations are; images and records are on the CPU
  std::uint64_t seed = 42;
  std::int64_t batch_size = 32;
  std::int64_t num_epochs = 4;
  OptimizerOptions optimizer;

  at::TensorOptions tensors() const { return at::TensorOptions(dtype).device(device); }
};

/// How ranks share the work of a pipeline.
struct PipelineOptions {
  std::string schedule = "gpipe";      ///< one of schedule_names()
  std::int64_t num_micro_batches = 4;  ///< per batch; pipedream and pipedream-sync always take whole batches
  int num_chunks = 1;                  ///< per rank; usually 2 for interleaved
  bool recompute = false;              ///< drop activations, and recompute them in the backward pass
};

}  // namespace lab::optc
