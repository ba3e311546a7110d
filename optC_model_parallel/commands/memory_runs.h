#pragma once

#include <cstdint>
#include <vector>

#include "common/launch/run_ranks.h"
#include "optC_model_parallel/commands/training_options.h"

// One batch of many micro-batches through a pipeline, to measure what each stage holds of it.
namespace lab::optc {

/// While it lives, this process can have only so many bytes of memory beyond what it had when this was made: whoever
/// asks for more gets std::bad_alloc, or LibTorch's error, or SIGSEGV where a library takes memory for granted. The
/// kernel counts: tensors, by whole pages, and everything else, but not what lay free in the heap already.
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
  std::int64_t cap_bytes = 0;  ///< that each rank's process may grow by meanwhile; 0: any number. Processes only
  WorldKind kind = WorldKind::kProcesses;
  double timeout_seconds = 300;
};

/// What each stage held of activations at once, at most: by the memory meter, all tensors that were made since before
/// the batch, less the gradients of the stage's weights, which are there by the time of the peak and stay. What a
/// backward pass makes in passing counts, too. The batch is a list of few images, taken round and round.
/// Call      with processes: this one has no thread pool yet
/// Errors    those of check_pipeline(); raises what a rank failed with: UsageError where it needed more than the cap
std::vector<std::int64_t> peak_activation_bytes(const MemoryRun& run);

/// The same as it would be by a straight line through two runs with few micro-batches.
std::vector<std::int64_t> forecast_activation_bytes(const MemoryRun& run);

}  // namespace lab::optc
