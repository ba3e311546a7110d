#pragma once

#include <cstdint>
#include <vector>

#include "common/launch/run_ranks.h"
#include "optC_model_parallel/model/training.h"

// One batch of many micro-batches through a pipeline, to measure how much of it each stage holds.
namespace lab::optc {

/// While it lives, this process can use only `more_bytes` of memory beyond what it had at construction: requests for
/// more fail with std::bad_alloc or LibTorch's error, or with SIGSEGV in a library that does not check. The kernel
/// counts: tensors, in whole pages, and everything else, but not memory that was already free in the heap.
/// Call      one at a time per process
/// Errors    UsageError: the kernel refuses
class MemoryCap {
 public:
  explicit MemoryCap(std::int64_t more_bytes);
  ~MemoryCap();
  MemoryCap(const MemoryCap&) = delete;
  MemoryCap& operator=(const MemoryCap&) = delete;

 private:
  std::uint64_t limit_before_;
};

struct MemoryRun {
  TrainingOptions training;  ///< the batch size follows from the micro-batches
  PipelineOptions pipeline;
  std::int64_t micro_batch_size = 1;
  int num_stages = 4;
  std::int64_t cap_bytes = 0;  ///< by which each rank's process may grow meanwhile; 0: no limit. Processes only
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
