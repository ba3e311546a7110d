#pragma once

#include <cstdint>
#include <vector>

#include "common/launch/run_ranks.h"
#include "optC_model_parallel/model/training.h"

// One batch of many micro-batches through a pipeline, to measure how much of it each stage holds.
namespace lab::optc {

struct MemoryRun {
  TrainingOptions training;  ///< the batch size follows from the micro-batches
  PipelineOptions pipeline;
  std::int64_t micro_batch_size = 1;
  int num_stages = 4;
  /// MB by which each rank's process may grow meanwhile, counted and enforced by the kernel; 0: no limit. Requests for
  /// more fail with std::bad_alloc or LibTorch's error, or with SIGSEGV in a library that does not check. Processes only.
  std::int64_t cap_megabytes = 0;
  launch::WorldKind kind = launch::WorldKind::kProcesses;
  double timeout_seconds = 300;
};

/// The peak activation memory of each stage, by the memory meter: all tensors allocated since before the batch, minus
/// the gradients of the stage's weights, which exist at the time of the peak and stay. Temporaries of a backward pass
/// count, too. The batch cycles through a few images.
/// Call      with processes: this process must not have a thread pool yet
/// Errors    those of check_pipeline(); raises what a rank failed with: UsageError where it needed more than the cap
std::vector<std::int64_t> peak_activation_bytes(const MemoryRun& run);

/// The same, extrapolated linearly from two runs with few micro-batches.
std::vector<std::int64_t> forecast_activation_bytes(const MemoryRun& run);

}  // namespace lab::optc
