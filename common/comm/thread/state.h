#pragma once

#include <ATen/ThreadLocalState.h>

namespace lab {
class MemoryAccount;
class WorkAccount;
}  // namespace lab

namespace lab::comm {

/// Per-thread state besides the stack: LibTorch's modes (grad mode, saved-tensor hooks, dispatch keys ...), the accounts
/// of the meters of memory and work, and the exceptions that catch blocks are handling. Where ranks take turns on one
/// thread, it belongs to the rank: saved when the rank yields the thread, restored when it resumes.
class ThreadState {
 public:
  /// A copy of this thread's state.
  ThreadState();

  /// The state of a new thread.
  static ThreadState fresh();

  /// Makes this the thread's state.
  void put_back() const;

 private:
  struct Exceptions {
    void* caught;
    unsigned int num_uncaught;
  };

  at::ThreadLocalState torch_;
  MemoryAccount* memory_owner_;
  WorkAccount* work_owner_;
  Exceptions exceptions_;
};

/// Whether this thread is running a graph's backward pass, for which LibTorch keeps more per-thread state than can be
/// saved.
bool inside_backward();

}  // namespace lab::comm
