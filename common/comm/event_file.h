#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/wait_graph.h"

// The memory-mapped file in which every rank notes what it is doing. It outlives a rank that was killed, so the
// launcher can say what that rank was doing, and it carries the launcher's verdict back to the ranks.
namespace lab {

/// The launcher's word to all ranks: why the run ends.
struct Verdict {
  ExitCode exit_code;
  std::string sentence;
};

/// One rank's own pages: written by that rank only (any of its threads, calls are serialised by the caller), read by
/// the launcher.
class RankEvents {
 public:
  virtual ~RankEvents() = default;
  virtual void set_activity(RankActivity activity, const std::string& detail = "") = 0;
  /// Notes a posted message and counts it on its channel (op.sequence is ignored: the channel's count is the sequence).
  /// Returns a slot for completed() and waiting(); negative when the table is full.
  virtual int posted(const PostedOp& op) = 0;
  virtual void completed(int slot) = 0;
  virtual void waiting(int slot) = 0;
  virtual void resumed() = 0;
};

class EventFile {
 public:
  /// Makes the file (zeroed) for num_ranks ranks. Errors: UsageError when it cannot be made.
  static std::unique_ptr<EventFile> create(const std::string& path, int num_ranks);
  /// Maps an existing one. Errors: UsageError when it is missing, short, or not an event file.
  static std::unique_ptr<EventFile> open(const std::string& path);

  virtual ~EventFile() = default;
  virtual int num_ranks() const = 0;
  /// The writer's view of one rank.
  virtual std::unique_ptr<RankEvents> rank(int rank) = 0;
  /// A consistent picture of one rank and a count of the changes it has made so far (equal counts: nothing moved
  /// between). A rank that died in the middle of a change, or moves faster than it can be read, is given as incomplete
  /// and waiting for nothing. A rank with an exit reason is kFailed, one that has returned is kFinished.
  virtual RankState read(int rank, std::uint64_t* num_changes) const = 0;
  /// The rank's last messages, oldest first, for a post-mortem: "posted send of 4 KiB to rank 1, tag 0 (a.cpp:41)".
  virtual std::vector<std::string> last_events(int rank) const = 0;

  /// Set once by the launcher when a rank has failed: how it ended ("killed by signal 9"). Empty while it lives.
  virtual void set_exit_reason(int rank, const std::string& reason) = 0;
  virtual std::string exit_reason(int rank) const = 0;
  /// Set by the launcher when a rank has ended with exit code 0; its exit reason stays empty.
  virtual void set_returned(int rank) = 0;

  /// Set once by the launcher (a later call is ignored); polled by the ranks.
  virtual void set_verdict(const Verdict& verdict) = 0;
  virtual std::optional<Verdict> verdict() const = 0;
};

/// The picture of all ranks if it proves that the run is stuck: read twice, and only believed when no rank of it moved
/// between.
std::optional<Diagnosis> diagnose(const EventFile& events);

}  // namespace lab
