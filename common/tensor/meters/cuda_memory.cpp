#include "common/tensor/meters/cuda_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>

namespace lab {

CudaMemoryReading read_cuda_memory(int device_index) {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(static_cast<c10::DeviceIndex>(device_index));
  const auto& allocated = stats.allocated_bytes[0];  // of all pools together
  return {allocated.current, allocated.peak};
}

void reset_cuda_peak(int device_index) {
  at::empty({0},
            at::Device(at::kCUDA, static_cast<at::DeviceIndex>(device_index)));  // the allocator exists from here on
  c10::cuda::CUDACachingAllocator::resetPeakStats(static_cast<c10::DeviceIndex>(device_index));
}

}  // namespace lab
