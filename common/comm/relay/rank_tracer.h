#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "common/comm/trace/rank_trace.h"
#include "common/comm/transport.h"

// Internal to comm/relay.
namespace lab::comm {

/// Records what one rank does during one piece of work, as the rank's own Endpoint would, from what passes through the
/// relay. Untrusted code may send any number of messages and call them anything: the first kMostEvents are kept, and of
/// their names a line.
class RankTracer {
 public:
  static constexpr std::size_t kMostEvents = 400;

  explicit RankTracer(int rank = 0) : rank_(rank) {}

  /// What is to be kept of a message until its wait has ended; null: nothing.
  std::unique_ptr<TraceEvent> post(const Message& message, std::int64_t model_start);

  /// Its wait returned at `model_end`, after the rank had to wait for `waited`. A negative `arrived`: it was in vain.
  void end_message(Pending& pending, std::int64_t arrived, std::int64_t model_end, std::int64_t waited);

  /// A collective from model_start to model_end, which all members had begun at `began`.
  struct CollectiveSpan {
    std::int64_t model_start = 0, began = 0, model_end = 0, waited = 0;
  };
  void end_collective(const Message& message, const LedgerEntry& cost, const CollectiveSpan& span);

  /// All so far, of a piece of work that has taken so long.
  RankTrace trace(std::int64_t length_ps) const;

 private:
  bool has_room();
  TraceEvent make_event(const Message& message) const;

  int rank_;
  RankTrace trace_;
  std::size_t num_kept_ = 0;  ///< ended or not
  std::unordered_map<Channel, std::uint64_t, ChannelHash> sequences_;
};

}  // namespace lab::comm
