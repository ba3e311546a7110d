#include "common/api/peak_memory.h"

#include <optional>

#include "common/tensor/meters/cuda_memory.h"
#include "common/tensor/meters/memory_meter.h"

namespace lab {

struct PeakMemory::State {
  explicit State(at::Device of) : device(of) {
    if (device.is_cuda()) {
      reset_cuda_peak(device.index());
      before_bytes = read_cuda_memory(device.index()).current_bytes;
    } else {
      scope.emplace();
    }
  }

  const at::Device device;
  std::int64_t before_bytes = 0;
  std::optional<MemoryScope> scope;
};

PeakMemory::PeakMemory(at::Device device) : state_(std::make_unique<State>(device)) {}

PeakMemory::~PeakMemory() = default;

std::int64_t PeakMemory::peak_bytes() const {
  if (state_->scope) return state_->scope->reading().peak_bytes;
  return read_cuda_memory(state_->device.index()).peak_bytes - state_->before_bytes;
}

std::int64_t PeakMemory::held_bytes() const {
  if (state_->scope) return state_->scope->reading().retained_bytes;
  return read_cuda_memory(state_->device.index()).current_bytes - state_->before_bytes;
}

}  // namespace lab
