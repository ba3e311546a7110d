#pragma once

#include <cstdint>

// The statistics of LibTorch's CUDA allocator, if this build has it. The only place that uses c10/cuda.
namespace lab {

struct CudaMemoryReading {
  std::int64_t current_bytes = 0;
  std::int64_t peak_bytes = 0;  ///< since the last reset
};

/// Errors    ContractError: this build has no CUDA
CudaMemoryReading read_cuda_memory(int device_index);
void reset_cuda_peak(int device_index);

}  // namespace lab
