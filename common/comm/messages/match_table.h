#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/comm/messages/message.h"
#include "common/comm/transport.h"

// Which messages match, who waits for whom, and who is to blame: the common part of the worlds whose ranks share one
// memory (`threads` and `sim`). Knows nothing of threads, locks or clocks.
namespace lab::comm {

/// One end of a message, as its rank posted it.
struct LocalPending : Pending {
  LocalPending(int owner_rank, Message&& posted) : Pending(std::move(posted)), owner(owner_rank) {}

  int owner;
  std::uint64_t order = 0;  ///< n-th message posted in the world
  enum class Stage { kPosted, kMatched, kDone } stage = Stage::kPosted;
  std::string violation;  ///< why the two ends do not agree; if set, the stage is kDone and nothing was copied
};

/// The two ends of one message.
struct Match {
  std::shared_ptr<LocalPending> source;
  std::shared_ptr<LocalPending> target;

  bool agrees() const { return source->violation.empty(); }
  std::uint64_t num_bytes() const { return source->num_bytes; }
  /// Copies the payload; a meta tensor has none.
  void copy_payload() const;
  /// Passes the sender's step to the receiver and each end's model time to the other; both are then done, at that time.
  void complete(double now_seconds) const;
};

/// The messages that wait for their other end, and what each rank is doing. Not thread-safe: the caller serialises the
/// calls. Messages that are never matched, abandoned ones included, stay alive as long as the table.
class MatchTable {
 public:
  struct Failure {
    int rank = -1;  ///< -1: no single rank's fault, the world is stuck
    ExitCode exit_code = ExitCode::kInternal;
    std::string message;
    std::vector<int> stuck_ranks = {};  ///< if it is stuck: the ranks that prove it
  };

  explicit MatchTable(int num_ranks) : ranks_(static_cast<std::size_t>(num_ranks)) {}

  int size() const { return static_cast<int>(ranks_.size()); }

  /// Adds a message. Its other end, if posted before, is removed: in order of posting for each channel. Both are then
  /// matched, or done with a violation.
  std::optional<Match> post(const std::shared_ptr<LocalPending>& mine);

  /// The rank waits from now on. Declares a failure if it can never go on.
  void wait_begins(int rank, const LocalPending& pending);
  void wait_ends(int rank);
  /// The message that the rank waits for, or null.
  const LocalPending* waiting_for(int rank) const { return at(rank).waiting_for; }

  /// Ends a wait: returns if the message is done.
  /// Errors    ContractError: the ends do not agree; the world's failure; CommError: neither, so it timed out
  void conclude(const LocalPending& pending, double timeout_seconds) const;

  /// The rank has returned: ranks that wait for it can never go on. A failed rank stays failed.
  void finish(int rank);
  bool all_finished() const { return num_finished_ == size(); }
  int num_finished() const { return num_finished_; }
  /// For a rank that has returned and timed out waiting for the others to return.
  [[noreturn]] void throw_unfinished(int rank, double timeout_seconds) const;

  /// The rank stops for its own reason. The first failure is the world's.
  void fail(int rank, ExitCode exit_code, const std::string& message);
  /// No rank goes on by itself: the world's failure is this rank's, whatever was found before.
  void blame(int rank, ExitCode exit_code, const std::string& message);
  /// No rank goes on by itself: why the world is stuck is said from what all of them do now.
  void diagnose_again();
  bool failed() const { return failure_.has_value(); }
  const std::optional<Failure>& failure() const { return failure_; }
  void throw_if_failed() const;

 private:
  struct RankPlace {
    RankActivity activity = RankActivity::kRunning;
    const LocalPending* waiting_for = nullptr;
    std::unordered_map<Channel, std::list<std::shared_ptr<LocalPending>>, ChannelHash> unmatched;
  };

  RankPlace& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const RankPlace& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  void find_deadlock(int rank);
  std::vector<RankState> states() const;
  /// "; late: rank 2 computes" for the rank that keeps the others waiting, at the end of the chain starting at `first`.
  std::string describe_late_rank(int first, int self) const;

  std::vector<RankPlace> ranks_;
  std::uint64_t num_posted_ = 0;
  std::optional<Failure> failure_;
  int num_finished_ = 0;
};

}  // namespace lab::comm
