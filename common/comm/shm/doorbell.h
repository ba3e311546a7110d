#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace lab::comm {

/// In memory that several processes have mapped: one sleeps on it, the others wake it. Nothing is lost that was written
/// before ring(): the sleeper looks once more after it has said that it sleeps.
class Doorbell {
 public:
  /// Any process or thread, after it has written what the owner waits for.
  void ring() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_relaxed) == 0 || asleep_.exchange(0) == 0) return;
    rings_.fetch_add(1, std::memory_order_release);
    futex(FUTEX_WAKE, 1);
  }

  /// The owner: sleeps until the next ring, unless `ready()` is true by then.
  template <typename Ready>
  void sleep_unless(const Ready& ready) {
    const std::uint32_t seen = rings_.load(std::memory_order_acquire);
    asleep_.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!ready()) futex(FUTEX_WAIT, seen);
    asleep_.store(0, std::memory_order_relaxed);
  }

 private:
  void futex(int operation, std::uint32_t value) {
    ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&rings_), operation, value, nullptr, nullptr, 0);
  }

  alignas(64) std::atomic<std::uint32_t> rings_{0};
  std::atomic<std::uint32_t> asleep_{0};
};

}  // namespace lab::comm
