#pragma once

#include <memory>
#include <optional>

#include "common/comm/transport.h"

namespace lab {

/// The world in which a rank is a thread of this process: messages are copies under a mutex, deadlock is detected the
/// moment it closes, and nothing is slower than the code under test. Made once, shared by the ranks' transports.
class ThreadWorld {
 public:
  /// A wait of more than timeout_seconds ends with CommError.
  ThreadWorld(int num_ranks, double timeout_seconds);
  ~ThreadWorld();
  ThreadWorld(const ThreadWorld&) = delete;
  ThreadWorld& operator=(const ThreadWorld&) = delete;

  /// The end that belongs to `rank`; to be used by that rank's thread only. The world must outlive it.
  std::shared_ptr<Transport> transport(int rank);

  /// To be called when the rank's thread ends, in whichever way: whoever still waits for it is told.
  void finished(int rank);

  class Hub;

 private:
  std::unique_ptr<Hub> hub_;
};

}  // namespace lab
