#pragma once

#include <cstdint>
#include <limits>

#include "common/api/errors.h"
#include "common/base/costs.h"

namespace lab {

class MemoryAccount;

/// Large as a number of any type (1.3e36 as a float, no index as an integer), but finite: LibTorch 1.13 multiplies what
/// stands in a small result's memory by beta in baddbmm(), and 0 times NaN would be NaN where beta is 0.
constexpr unsigned char kGarbageByte = 0x7B;

/// An allocation that a MemoryScope with a limit refused. Nothing was allocated.
struct MemoryLimitError : UsageError {
  using UsageError::UsageError;
};

/// Counts the bytes of CPU tensors from now on, in the scopes below. Tensors created before are not counted.
/// Call      once per process, before a second thread creates tensors; a further call does nothing. Never undone, and
///           the only process-wide object here: LibTorch has one CPU allocator, and tensors may outlive any scope that
///           would restore the old one.
/// Cost      64 bytes and a few atomic additions per allocation
/// Counted   storages, workspaces of convolutions; not: from_blob, mapped files, OpenBLAS's buffers
void install_memory_meter();

/// The account that this thread's allocations are charged to: the innermost MemoryScope's, or null.
MemoryAccount* memory_owner();
void set_memory_owner(MemoryAccount* owner);

/// While it lives, owns what its thread allocates: counted until freed, no matter on which thread, even after the
/// scope's end. Allocations in a scope inside another one count in both.
/// Call      created and destroyed on one thread, last created first destroyed; one per rank
/// Errors    ContractError: the meter is not installed
/// Example   MemoryScope scope; at::empty({256}); scope.reading(): 0 bytes retained, peak 1024
class MemoryScope {
 public:
  static constexpr std::int64_t kAnyBytes = std::numeric_limits<std::int64_t>::max();

  /// What a new tensor holds before it is written: whatever was there, or kGarbageByte in every byte, which shows who
  /// reads what at::empty() gave. Scopes inside do the same.
  enum class Fresh { kAnything, kGarbage };

  /// While it is an owner, an allocation with which it would hold more than `most_bytes` throws MemoryLimitError.
  explicit MemoryScope(std::int64_t most_bytes = kAnyBytes, Fresh fresh = Fresh::kAnything);
  ~MemoryScope();
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

  /// Call      on any thread
  MemoryUse reading() const;

  /// Resets the peak to what is held now.
  void reset_peak();

 private:
  MemoryAccount* const outer_;
  MemoryAccount* const account_;
};

/// While it lives, its thread's allocations are not charged, except in scopes inside it: for work that is not part of
/// what the thread's owner is measured for.
class UnchargedScope {
 public:
  UnchargedScope() : owner_(memory_owner()) { set_memory_owner(nullptr); }
  ~UnchargedScope() { set_memory_owner(owner_); }
  UnchargedScope(const UnchargedScope&) = delete;
  UnchargedScope& operator=(const UnchargedScope&) = delete;

 private:
  MemoryAccount* const owner_;
};

}  // namespace lab
