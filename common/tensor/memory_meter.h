#pragma once

#include <cstdint>

namespace lab {

class MemoryAccount;

struct MeterReading {
  int64_t current_bytes = 0;
  int64_t peak_bytes = 0;
};

/// Counts the bytes of CPU tensors from now on, in the scopes below. Tensors made before are not counted.
/// Call      once per process, before a second thread makes tensors; a further call does nothing. Never undone, and the
///           one object here that belongs to the process: LibTorch has one CPU allocator, and tensors may outlive
///           whoever would put the old one back.
/// Cost      64 bytes and a few atomic additions per allocation
/// Counted   storages, workspaces of convolutions; not: from_blob, mapped files, OpenBLAS's buffers
void install_memory_meter();

/// Whom this thread's allocations are charged to: the innermost MemoryScope's account, or null. For worlds whose ranks
/// take turns on one thread: each takes its owner along.
MemoryAccount* memory_owner();
void set_memory_owner(MemoryAccount* owner);

/// While it lives, what its thread allocates is its own: counted until freed, no matter on which thread, also after the
/// scope's end. What a scope inside another one allocates counts in both.
/// Call      created and destroyed on one thread, last created first destroyed; one per rank
/// Errors    ContractError: the meter is not installed
/// Example   MemoryScope scope; at::empty({256}); scope.reading(): current 0, peak 1024 bytes
class MemoryScope {
 public:
  MemoryScope();
  ~MemoryScope();
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

  /// Call      on any thread
  MeterReading reading() const;

  /// The peak starts anew from what is held now.
  void reset_peak();

 private:
  MemoryAccount* const outer_;
  MemoryAccount* const account_;
};

/// While it lives, what its thread allocates is charged to nobody, but for scopes inside it: for work that is no part of
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
