#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "common/comm/messages/message.h"
#include "common/comm/trace/trace.h"

namespace lab::comm {

/// A message in flight, and all that its world and its rank keep of it. Shares ownership of the tensor.
struct Pending {
  explicit Pending(Message&& posted) : message(std::move(posted)), num_bytes(message.num_bytes()) {}
  virtual ~Pending() = default;

  Message message;  ///< as it was posted; the rank reads it until wait() has returned
  const std::uint64_t num_bytes;
  /// The sender's logical clock; of a receive, valid after wait().
  std::uint64_t peer_step = 0;
  /// When the message arrived, on the transport's clock; negative where the world cannot tell.
  double arrived_seconds = -1;
  /// The other end's Message::model_posted; valid after wait(). Messages on collectives' channels tell it to the
  /// receiver only.
  std::int64_t peer_model_posted = 0;

  // Kept by the rank that has posted it.
  at::Tensor user_tensor;             ///< undefined where the message carries the caller's tensor itself
  std::unique_ptr<TraceEvent> event;  ///< if traced: what was known of it when it was posted
  enum class Watch {
    kListed,  ///< it is only known to be under way
    kPlace,   ///< others' memory is compared with its own
    kBytes    ///< and whether a send's memory has changed meanwhile is found out
  } watch = Watch::kListed;
  std::uint64_t checksum = 0;  ///< of a send's bytes, if these are watched
};

/// One rank's end of a world: moves messages and nothing else. The worlds `processes`, `threads`, `sim` and `relay`
/// implement it; students never see it. Every implementation guarantees, and one contract suite checks:
/// - a send completes only once the matching receive is posted (rendezvous);
/// - first in, first out for each (source, destination, group, tag);
/// - operation, dtype and shape are compared before any data is written: ContractError on both sides;
/// - a rank that fails or dies makes every other rank's current or next wait throw CommError;
/// - no wait lasts longer than the world's time-out.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// The number of the host that a rank of this world runs on: the same for ranks that share a machine.
  virtual int host_of(int /*rank*/) const { return 0; }

  /// Posts a message and returns at once. The peer is a world rank other than this one.
  virtual std::shared_ptr<Pending> post(Message&& message) = 0;

  /// Returns when the message is complete. Errors: ContractError, CommError, DeadlockError.
  virtual void wait(Pending& pending) = 0;

  /// Abandons a message that will never be waited for. Its memory stays alive until the world closes.
  virtual void abandon(std::shared_ptr<Pending> pending) = 0;

  /// Sets what this rank works on from now on, for reports on why a run ended: "a9.allreduce, AllReduceLarge".
  virtual void set_task(const std::string& /*task*/) {}

  /// How many floating-point operations this rank has done so far: for a world that keeps its ranks' model time itself.
  /// Called on the rank's thread, until it is replaced by an empty function.
  virtual void set_work_counter(std::function<std::int64_t()> /*flops*/) {}

  /// Seconds since an origin that all ranks of the world share; simulated seconds in `sim`.
  virtual double now() const = 0;

  /// Returns after that many seconds on this rank, in which it does nothing: a stand-in for a computation.
  virtual void pass_time(double seconds) = 0;

  /// Orderly shutdown: returns when every rank has reached it. Errors: those of wait(), when another rank failed.
  virtual void close() = 0;

  /// Shutdown on failure: tells every other rank why this one stops. Called at most once, instead of close().
  virtual void fail(ExitCode exit_code, const std::string& message) = 0;
};

}  // namespace lab::comm
