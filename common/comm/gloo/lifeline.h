#pragma once

#include <gloo/rendezvous/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/comm/gloo/connector.h"
#include "common/comm/process/lane.h"
#include "common/comm/watch/event_file.h"

// Why no wait lasts forever. Internal to comm/gloo.
namespace lab::comm {

/// The time-out passed to Gloo, so long that it never fires: it would close every connection of the context.
constexpr std::chrono::milliseconds kForGloo = std::chrono::hours(24 * 30);

/// Watches over one rank's waits. A sentinel thread keeps a receive posted to every peer: a peer's failure record, its
/// farewell, or the end of its connection wakes it at once, whatever the rank itself is doing. A second thread watches
/// the clock and the launcher's verdict. Either one ends the rank's current wait by aborting it: Gloo's own time-outs
/// would close every connection of the context.
class Lifeline : public WaitGuard {
 public:
  /// `events` may be null. Where it does not show all ranks, they tell rank 0 what they do, over the connector.
  /// Both must outlive this object.
  Lifeline(gloo::rendezvous::Context& context, double timeout_seconds, EventFile* events, Connector& connector);

  void wait(Wait& wait, const Message& message) override;
  void check() override;
  [[noreturn]] void connection_lost() override;
  void set_task(const std::string& task) override;
  void close() override;
  void fail(ExitCode exit_code, const std::string& message, int involved_rank) override;

  /// The built-in collective that this rank is inside; empty: none.
  void set_collective(const std::string& name);

  /// The error to throw after a time-out: "timed out after 10 s: rank 0 is inside all_reduce", and who is late. Tells
  /// every rank of this machine, so that all of them give the same reason.
  CommError timed_out(const std::string& what);

 private:
  struct Failure {
    int origin_rank;  ///< -1: no single rank's fault, or found by this rank
    ExitCode exit_code;
    std::string message;
    int involved_rank;
  };
  struct CurrentWait {
    Wait* wait;
    const Message* message;
    double deadline;
    int ticks_after_farewell;
  };
  struct LastWords {
    gloo::transport::UnboundBuffer* buffer;
    double deadline;
  };
  struct FailureRecord;

  void listen();
  void keep_time();
  void read_records();
  void tick(std::unique_lock<std::mutex>& lock, double seconds_since_last);
  bool all_are_watched() const;
  bool is_watched(int rank) const;
  Pulse own_pulse() const;  // with the mutex held
  /// Gives up the lock while it asks rank 0. `first_waiting`: the start of the chain of waits; the late rank is at its end.
  std::string timeout_message(std::unique_lock<std::mutex>& lock, const std::string& what, int first_waiting);
  std::vector<int> unfinished_ranks() const;  // with the mutex held
  void declare(Failure failure);              // with the mutex held
  void throw_failure() const;                 // with the mutex held
  int find_lost_peer();
  void send_records(const FailureRecord& record);
  void wait_a_little(gloo::transport::UnboundBuffer& buffer);

  gloo::rendezvous::Context& context_;
  const double timeout_seconds_;
  EventFile* events_;
  Connector& connector_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Failure> failure_;  ///< the first one
  std::optional<CurrentWait> current_;
  std::optional<LastWords> last_words_;  ///< a record being sent
  std::optional<double> closing_deadline_;
  std::vector<bool> said_farewell_;
  std::string task_;
  std::string collective_;
  bool asking_ = false;  ///< who is late: the wait that has timed out does not end meanwhile, even if it completes
  double next_pulse_ = 0;
  bool farewell_sent_ = false;
  bool stopping_ = false;

  std::vector<char> records_;  ///< one record per peer, filled by Gloo
  std::unique_ptr<gloo::transport::UnboundBuffer> record_buffer_;
  std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> probes_;  ///< tell which connection was lost
  std::vector<char> probe_memory_;
  std::vector<char> outgoing_;
  std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> outgoing_buffers_;
  std::thread listener_;
  std::thread timekeeper_;
};

}  // namespace lab::comm
