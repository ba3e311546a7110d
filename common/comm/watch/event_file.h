#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/stack/student_place.h"
#include "common/comm/watch/wait_graph.h"

// The memory-mapped file in which every rank records what it is doing. It outlives a rank that was killed, so the
// launcher can say what that rank was doing, and it carries the launcher's verdict back to the ranks.
namespace lab::comm {

/// Why the run ends, for all ranks of this machine: from the launcher, or from the rank whose wait timed out first.
struct Verdict {
  ExitCode exit_code;
  std::string message;
};

/// One rank's pages: written by that rank only (any of its threads; the caller serialises the calls), read by the
/// launcher.
class RankEvents {
 public:
  virtual ~RankEvents() = default;
  virtual void set_activity(RankActivity activity, const std::string& detail = "") = 0;
  /// What the rank works on from now on: "a9.allreduce, AllReduceLarge".
  virtual void set_task(const std::string& task) = 0;
  /// The longest a wait of this rank may last.
  virtual void set_timeout(double seconds) = 0;
  /// Records a posted message and counts it on its channel. Returns a slot for completed() and waiting(); negative if the
  /// table is full.
  virtual int posted(const PostedOpView& op) = 0;
  virtual void completed(int slot) = 0;
  virtual void waiting(int slot) = 0;
  virtual void resumed() = 0;
  /// Where this rank's thread leaves where it is and why it crashed.
  virtual StudentPlace& place() = 0;
};

class EventFile {
 public:
  /// Which of a world's ranks write to it.
  enum class Writers { kAllRanks, kThisMachine };

  /// Creates the file (zeroed) for num_ranks ranks. In memory (launch/memory_file.h) it cannot hit a full disk, which
  /// would be a SIGBUS at the first touch of a page.
  /// Errors    UsageError: it cannot be created
  static std::unique_ptr<EventFile> create(const std::string& path, int num_ranks,
                                           Writers writers = Writers::kAllRanks);
  /// Maps an existing one. Errors: UsageError: it is missing, too short, or not an event file.
  static std::unique_ptr<EventFile> open(const std::string& path);

  virtual ~EventFile() = default;
  virtual int num_ranks() const = 0;
  virtual Writers writers() const = 0;
  /// The writer's view of one rank.
  virtual std::unique_ptr<RankEvents> rank(int rank) = 0;
  /// A consistent snapshot of one rank and a count of the changes it has made so far (equal counts: nothing changed in
  /// between). A rank that died in the middle of a change, or changes faster than it can be read, is returned as
  /// incomplete and waiting for nothing. A rank with an exit reason is kFailed, one that has returned is kFinished.
  virtual RankState read(int rank, std::uint64_t* num_changes) const = 0;
  /// The count alone.
  virtual std::uint64_t num_changes(int rank) const = 0;
  /// The rank's last messages, oldest first, for a post-mortem: "posted send of 4 KiB to rank 1, tag 0 (a.cpp:41)".
  virtual std::vector<std::string> last_events(int rank) const = 0;

  virtual StudentPlace& place(int rank) const = 0;

  /// Set once by the launcher when a rank has failed: how it ended ("killed by signal 9"). Empty while it is alive.
  virtual void set_exit_reason(int rank, const std::string& reason) = 0;
  virtual std::string exit_reason(int rank) const = 0;
  /// Set by the launcher when a rank has ended with exit code 0; its exit reason stays empty.
  virtual void set_returned(int rank) = 0;

  /// Set by the launcher: the signal that has stopped the rank's process, or 0 once it continues.
  virtual void set_stopped(int rank, int signal) = 0;
  /// The longest time-out of any rank that has joined; 0: none has.
  virtual double timeout_seconds() const = 0;

  /// Set once (later calls are ignored); polled by the ranks.
  virtual void set_verdict(const Verdict& verdict) = 0;
  virtual std::optional<Verdict> verdict() const = 0;

  /// A line per rank, recorded once (later calls are ignored) when a wait times out: afterwards every rank has failed,
  /// and what it was doing would be lost.
  virtual void set_rank_lines(const std::vector<std::string>& lines) = 0;
  virtual std::vector<std::string> rank_lines() const = 0;
};

/// What each rank is doing, and the last messages of one that waits for nothing: "rank 2 computes; last: completed
/// recv of 4 B from rank 1, tag 0 (a.cpp:7)". Of this machine only, if those are the writers.
std::vector<std::string> describe_ranks(const EventFile& events);

/// "; late: rank 2 computes" for the rank that keeps others waiting: see find_late_rank(). Empty if it is `self`, or
/// the event file does not show one.
std::string describe_late_rank(const EventFile& events, int first, int self);

/// The diagnosis if the state of all ranks proves that the run is stuck. Read twice, and only trusted if no rank in it
/// changed in between. Empty if not all ranks are writers.
std::optional<Diagnosis> diagnose(const EventFile& events);

}  // namespace lab::comm
