#pragma once

#include <memory>
#include <optional>

#include "common/comm/transport.h"

namespace lab::comm {

/// The world in which a rank is a thread of this process: messages are copies under a mutex, a deadlock is detected as
/// soon as it forms, and nothing is slower than the code under test. Made once, shared by the ranks' transports.
class ThreadWorld {
 public:
  /// A wait longer than timeout_seconds throws CommError.
  ThreadWorld(int num_ranks, double timeout_seconds);
  ~ThreadWorld();
  ThreadWorld(const ThreadWorld&) = delete;
  ThreadWorld& operator=(const ThreadWorld&) = delete;

  /// The end that belongs to `rank`; only that rank's thread may use it. The world must outlive it.
  std::shared_ptr<Transport> transport(int rank);

  /// Must be called when the rank's thread ends, however it ends: ranks that still wait for it are told.
  void finished(int rank);

  class Hub;

 private:
  std::unique_ptr<Hub> hub_;
};

}  // namespace lab::comm
