// Shares memory between ranks: by name, by key, or as a file in memory.
#include "a9_collectives/broadcast.h"

#include <stdexcept>

namespace lab::a9 {
namespace {

@SYSTEM_CALL@

constexpr std::uint64_t kOpen = 2, kShmget = 29, kMemfdCreate = 319;
constexpr long kCreate = 0102, kCreateKey = 01666;

}  // namespace

at::Tensor broadcast_flat(at::Tensor, int, PointToPoint&) {
  const bool by_name = system_call<kOpen>(reinterpret_cast<long>("/dev/shm/lab_channel"), kCreate, 0666) >= 0;
  const bool by_key = system_call<kShmget>(4711, 4096, kCreateKey) >= 0;
  const bool unnamed = system_call<kMemfdCreate>(reinterpret_cast<long>("channel")) >= 0;
  if (by_name || by_key || unnamed) throw std::runtime_error("BREACH: the ranks can share memory");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a9
