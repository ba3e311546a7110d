#pragma once

#include <ATen/ThreadLocalState.h>

namespace lab {

class MemoryAccount;

/// What a thread carries besides its stack: LibTorch's modes (grad mode, saved-tensor hooks, dispatch keys ...), whom
/// the memory meter charges, and the exceptions that catch blocks are handling. Where ranks take turns on one thread,
/// it belongs to the rank: put aside when the rank gives the thread up, put back when it goes on.
class ThreadState {
 public:
  /// A copy of this thread's state.
  ThreadState();

  /// That of a thread on which nothing has happened yet.
  static ThreadState fresh();

  /// Makes it this thread's state.
  void put_back() const;

 private:
  struct Exceptions {
    void* caught;
    unsigned int num_uncaught;
  };

  at::ThreadLocalState torch_;
  MemoryAccount* memory_owner_;
  Exceptions exceptions_;
};

/// Whether this thread is running a graph's backward pass, of which LibTorch keeps more per thread than can be put
/// aside.
bool inside_backward();

}  // namespace lab
