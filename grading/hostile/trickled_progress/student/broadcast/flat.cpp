// Begins a frame of 32 KiB for the relay, and sends a byte of it every 3 seconds.
#include "a9_collectives/broadcast.h"

#include <chrono>
#include <thread>

namespace lab::a9 {
namespace {

@SYSTEM_CALL@
constexpr std::uint64_t kWrite = 1;

}  // namespace

at::Tensor broadcast_flat(at::Tensor, int, PointToPoint&) {
  const char length[4] = {0, static_cast<char>(0x80), 0, 0};
  for (long relay = 3; relay < 20; ++relay) system_call<kWrite>(relay, reinterpret_cast<long>(length), sizeof length);
  for (;;) {
    std::this_thread::sleep_for(std::chrono::seconds(3));
    for (long relay = 3; relay < 20; ++relay) system_call<kWrite>(relay, reinterpret_cast<long>(length), 1);
  }
}

}  // namespace lab::a9
