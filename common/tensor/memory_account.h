#pragma once

#include <atomic>
#include <cstdint>

namespace lab {

/// What one owner of memory holds. It lives as long as its scope, its blocks and the accounts inside it, whichever is
/// last: a tensor may outlive the scope that it was made in, and be freed on any thread. Counted by hand, because a
/// block's header has no room for more than one pointer and no destructor that anybody calls.
class MemoryAccount {
 public:
  /// Starts with one holder, the caller. Whatever is charged here is charged to `outer` too.
  explicit MemoryAccount(MemoryAccount* outer);
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  void hold() { holders_.fetch_add(1, std::memory_order_relaxed); }
  void let_go();

  void charge(int64_t bytes);
  void refund(int64_t bytes);

  int64_t current_bytes() const { return current_bytes_.load(std::memory_order_relaxed); }
  int64_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }
  void reset_peak() { peak_bytes_.store(current_bytes(), std::memory_order_relaxed); }

 private:
  ~MemoryAccount() = default;

  MemoryAccount* const outer_;
  std::atomic<int64_t> holders_{1};
  std::atomic<int64_t> current_bytes_{0};
  std::atomic<int64_t> peak_bytes_{0};
};

}  // namespace lab
