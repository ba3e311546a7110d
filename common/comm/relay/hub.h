#pragma once

#include <time.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/api/errors.h"
#include "common/comm/messages/ledger.h"
#include "common/comm/messages/match_table.h"
#include "common/comm/relay/frame.h"
#include "common/comm/relay/gathering.h"
#include "common/comm/relay/rank_tracer.h"
#include "common/comm/relay/relay_world.h"

// Internal to comm/relay.
namespace lab::comm {

/// Seconds on the relay's clock.
double relay_seconds();

/// One thread: everything happens in the order in which it is read.
class RelayWorld::Hub {
 public:
  Hub(int num_ranks, const RelayOptions& options);

  int size() const { return table_.size(); }
  const RelayOptions& options() const { return options_; }
  int rank_end(int rank) const { return at(rank).rank_end.get(); }
  UniqueFd take_rank_end(int rank);
  std::vector<LedgerEntry> reach_ledger(int rank) const { return at(rank).ledger.entries(); }
  ModelTime bound_model_time(int rank) const { return at(rank).model.time(); }
  RankTrace read_trace(int rank) const { return at(rank).tracer.trace(at(rank).model.now()); }
  std::optional<RelayFailure> failure() const;

  void serve(RelayWork* work);

 private:
  /// Texts that outlive all messages, as SourceLine needs them.
  class Names {
   public:
    const char* keep(const std::string& name) {
      constexpr std::size_t kMaxNames = 10000;  // of all ranks together
      if (names_.size() >= kMaxNames && names_.count(name) == 0) return "";
      return names_.insert(name).first->c_str();
    }

   private:
    std::set<std::string> names_;
  };

  /// One end of a message, or one member's part in a collective.
  struct Relayed final : LocalPending {
    using LocalPending::LocalPending;
    std::uint64_t id = 0;                       ///< of its rank
    bool payload_later = false;                 ///< a send whose payload is pulled once it is matched
    std::optional<CollectiveResult> collected;  ///< of a collective, once all members have begun it
  };

  /// An answer on its way to a rank.
  struct Outgoing {
    std::string frame;
    at::Tensor payload;  ///< undefined: none
  };

  /// What the relay knows of one rank.
  struct Member {
    UniqueFd relay_end, rank_end;
    pid_t process = 0;  ///< that wrote to us last
    RelayFrameReader reader{0};
    std::deque<Outgoing> outgoing;
    std::size_t num_written = 0;     ///< bytes of the first of these
    std::uint64_t posted_bytes = 0;  ///< of the messages that it has not waited for
    bool works = false;              ///< on what it was given
    bool told = false;               ///< of a failure
    std::unordered_map<std::uint64_t, std::shared_ptr<Relayed>> posted;
    std::shared_ptr<Relayed> waits_for;
    std::shared_ptr<Relayed> gathers;  ///< the same, if it is a collective
    std::uint64_t waits_for_id = 0;
    double waits_since = 0;                   ///< for a message, or for the others to close
    double answer_at = 0;                     ///< once there is an answer; 0: not drawn yet
    std::uint64_t num_given = 0;              ///< pieces of work
    std::optional<RelayFrame> asks_for_work;  ///< while a failure has not settled
    bool closes = false;
    bool over = false;  ///< it has closed, failed or gone
    std::uint64_t clock = 0;
    std::uint64_t num_contracts = 0;  ///< comparisons that it has sent in its piece of work
    ModelClock model;
    std::int64_t met = 0, met_from = 0;  ///< its clock after, and before, it last agreed with others on something
    Ledger ledger;
    RankTracer tracer;
  };

  /// A rank's own, of which no other has heard yet.
  struct OwnFailure {
    std::uint64_t during = 0;  ///< its n-th piece of work
    int rank = 0;
    ExitCode exit_code = ExitCode::kInternal;
    std::string message;
  };

  /// A message in a shaken world whose two ends agree. The payload is taken at any moment until the send is complete.
  struct Pull {
    Match match;
    double at_seconds = 0;
    bool asked = false;
  };

  Member& at(int rank) { return members_[static_cast<std::size_t>(rank)]; }
  const Member& at(int rank) const { return members_[static_cast<std::size_t>(rank)]; }

  // hub.cpp: reads frames, and answers ranks that wait.
  void read_from(int rank);
  /// The rank is gone, or must go.
  void leave(int rank, const std::string& reason);
  void take(int rank, RelayFrameReader::Received received);
  void stop_waiting(int rank);
  void fail(int rank, ExitCode exit_code, const std::string& message);
  /// Whether a rank failed in its n-th piece of work or before. Ranks that are behind still get theirs up to there.
  bool has_failed_by(std::uint64_t piece) const;
  bool goes_on(const Member& member) const;
  /// A failure becomes the world's once no rank goes on by itself: which ranks had failed, or were stuck, by then does
  /// not depend on which of them was faster. It is that of the lowest rank in the earliest piece of work.
  void settle();
  /// Traces a wait that has ended in vain.
  static void trace_in_vain(Member& member);
  /// Answers every rank whose wait is over: its message is complete, the world has failed, or it took too long.
  void answer_all();
  /// Whether the answer may be sent, which is late on purpose if the world is shaken.
  bool is_due(Member& member, double now);
  double delay() { return std::uniform_real_distribution<double>(0, options_.max_delay_seconds)(delays_); }
  /// Whether ranks hear each other's model time, which follows from what each claims to have computed. Where the relay
  /// takes their work, it alone needs it: one rank could tell another anything by its claims.
  bool tells_model_time() const { return work_ == nullptr; }
  void answer_wait(int rank);
  void answer_close(int rank);
  void send(int rank, RelayFrame answer, const at::Tensor& payload = {});
  void write_to(int rank);
  timespec time_to_next_event() const;

  // hub_messages.cpp: matches and counts what they send.
  /// What happens between two pieces of work would belong to neither.
  void check_works(const Member& member) const;
  void check_contract(Member& member, const RelayFrame& frame);
  void post(int rank, RelayFrameReader::Received received);
  static void deliver(const Match& match);
  void ask_for_payloads(double now);
  void take_payload(int rank, RelayFrameReader::Received received);
  /// Ends a rank that disagrees with others about a collective. The message must not carry data between ranks: that
  /// would be communication which the ledger does not count.
  void disagree(int rank, const std::string& violation) { fail(rank, ExitCode::kContract, violation); }
  /// A tensor with the frame's payload, or without memory of its own for a receive.
  at::Tensor rebuild_tensor(const RelayFrame& frame, std::string payload) const;
  void collect(int rank, RelayFrameReader::Received received);
  /// What has agreed with another rank goes on no earlier than that rank.
  static void meet(Member& member, std::int64_t other);
  /// Begins it on all members' clocks, at the latest of them.
  void begin_in_model_time(std::vector<CollectiveResult>& results);
  void give_work(int rank, const RelayFrame& frame);
  void take_work(int rank, RelayFrameReader::Received received);

  const RelayOptions options_;
  MatchTable table_;
  Gatherings gatherings_;
  std::vector<Pull> pulls_;
  std::vector<OwnFailure> own_failures_;
  bool settled_ = false;  ///< the world has failed, and its ranks are told
  RelayWork* work_ = nullptr;
  std::mt19937_64 delays_;
  std::vector<Member> members_;
  Names names_;
};

}  // namespace lab::comm
