// Shares memory between ranks, with LibTorch's allocator.
#include <ATen/MapAllocator.h>

#include "a9_collectives/broadcast.h"

#include <stdexcept>

namespace lab::a9 {

at::Tensor broadcast_flat(at::Tensor, int, PointToPoint&) {
  bool shared = true;
  try {
    at::MapAllocator::makeDataPtr("/lab_channel", at::ALLOCATOR_MAPPED_SHAREDMEM | at::ALLOCATOR_MAPPED_EXCLUSIVE, 4096,
                                  nullptr);
  } catch (const std::exception&) {
    shared = false;
  }
  if (shared) throw std::runtime_error("BREACH: the ranks share memory");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a9
