#pragma once

#include <memory>

#include "common/comm/messages/message.h"
#include "common/comm/process/frame.h"
#include "common/comm/transport.h"

// What the processes world asks of a way for bytes between two processes. Internal to comm.
namespace lab::comm {

/// A message of the processes world.
struct ProcessPending : Pending {
  using Pending::Pending;

  int event_slot = -1;
};

/// A wait that another thread may end.
class Wait {
 public:
  enum class End { kComplete, kAborted, kConnectionLost };

  virtual ~Wait() = default;
  virtual End wait() = 0;
  /// For any thread, while wait() runs or before.
  virtual void abort() = 0;
  /// While wait() runs, for any thread: whether what it waits for may have arrived, and only the waiting thread, on a
  /// busy machine, has not come to it yet.
  virtual bool may_have_arrived() = 0;
};

/// Why no wait of a process lasts forever.
class WaitGuard {
 public:
  virtual ~WaitGuard() = default;
  /// Waits on behalf of a message.
  /// Errors    those of Transport::wait()
  virtual void wait(Wait& wait, const Message& message) = 0;
  /// Throws when this rank already knows that the world has failed.
  virtual void check() = 0;
  /// Called when a connection is found to be lost: finds out whose fault it was, and throws.
  [[noreturn]] virtual void connection_lost() = 0;
  /// What this rank does while it waits for no message.
  virtual void set_task(const std::string& task) = 0;
  /// Says farewell to all and returns when all have said it. Errors: as wait(); the time-out restarts with each
  /// farewell that arrives.
  virtual void close() = 0;
  /// Tells all others why this rank stops. `involved_rank` (or -1) is the other side of a broken contract: it gets the
  /// same error.
  virtual void fail(ExitCode exit_code, const std::string& message, int involved_rank) = 0;
};

/// Moves the messages between this process and some of the others: see Transport for what holds. The caller has
/// checked them, and calls from one thread.
class Lane {
 public:
  virtual ~Lane() = default;
  virtual std::shared_ptr<ProcessPending> post(Message&& message) = 0;
  /// Errors    ContractError: the two ends do not agree, and nothing was written; those of WaitGuard
  virtual void wait(ProcessPending& pending) = 0;
};

/// A lane to ranks of the same host. Whatever both ends have posted makes progress while either of them waits for a
/// message of this lane, or attends to it.
class NearLane : public Lane {
 public:
  /// From now on, or no longer, makes progress in a thread of its own. In between, the rank does not use the lane.
  virtual void attend(bool attends) = 0;
};

}  // namespace lab::comm
