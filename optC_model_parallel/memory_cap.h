#pragma once

#include <cstdint>

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

}  // namespace lab::optc
