#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>

namespace lab {

/// The peak number of tensor bytes held since construction, beyond what was held then: on the CPU what this thread
/// allocated, by the memory meter; on a GPU what this process allocated, by LibTorch's caching allocator (as
/// torch.cuda.max_memory_allocated()).
/// Call      created and destroyed on one thread; one at a time per GPU
/// Errors    ContractError: the memory meter is not installed; a GPU in a build without CUDA
/// Example   PeakMemory memory(at::kCPU); at::empty({256}); memory.peak_bytes(): 1024
class PeakMemory {
 public:
  explicit PeakMemory(at::Device device);
  ~PeakMemory();
  PeakMemory(const PeakMemory&) = delete;
  PeakMemory& operator=(const PeakMemory&) = delete;

  std::int64_t peak_bytes() const;
  std::int64_t held_bytes() const;  ///< now

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lab
