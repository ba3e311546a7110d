#include "common/comm/watch/wait_graph.h"

#include <fmt/format.h>

#include <algorithm>

// A rank that waits for one message waits for exactly one peer, so the waits form a graph with at most one edge out of
// each rank: following the edges either reaches a rank again (a cycle) or ends at a rank that does not wait.
namespace lab {
namespace {

constexpr int kNobody = -1;

Direction opposite(Direction direction) {
  return direction == Direction::kSend ? Direction::kRecv : Direction::kSend;
}

class WaitGraph {
 public:
  explicit WaitGraph(const std::vector<RankState>& ranks) : ranks_(ranks), waits_for_(ranks.size(), kNobody) {
    for (int rank = 0; rank < size(); ++rank) {
      const PostedOp* op = waited(rank);
      if (op != nullptr && unmatched(rank, *op)) waits_for_[static_cast<std::size_t>(rank)] = op->peer;
    }
  }

  std::optional<Diagnosis> diagnose() const {
    const std::vector<bool> stuck = stuck_ranks();
    std::vector<int> proof = cycle();
    const bool is_cycle = !proof.empty();
    if (!is_cycle) proof = wait_for_a_finished_rank();
    if (proof.empty()) return std::nullopt;

    Diagnosis diagnosis;
    diagnosis.ranks = proof;
    diagnosis.message = is_cycle ? cycle_message(proof) : finished_message(proof);
    if (auto mismatch = tag_mismatch(stuck)) {
      diagnosis.exit_code = ExitCode::kContract;
      diagnosis.message = mismatch->message;
      diagnosis.ranks.insert(diagnosis.ranks.end(), mismatch->ranks.begin(), mismatch->ranks.end());
    }
    for (int rank = 0; rank < size(); ++rank) {
      diagnosis.rank_lines.push_back(fmt::format("rank {} {}", rank, describe_rank(state(rank))));
    }
    return diagnosis;
  }

  std::optional<int> late_rank(int first) const {
    int rank = first;
    for (int step = 0; step <= size(); ++step) {
      if (state(rank).stopped_by != 0) return rank;
      const PostedOp* op = waited(rank);
      if (op == nullptr) break;
      rank = op->peer;
    }
    if (waited(rank) != nullptr) return std::nullopt;  // a cycle
    if (state(rank).activity != RankActivity::kCollective) return rank;
    // A built-in collective does not say whom it waits for: it must be a rank that is stopped, or not inside one.
    for (int other = 0; other < size(); ++other) {
      if (state(other).stopped_by != 0) return other;
    }
    for (int other = 0; other < size(); ++other) {
      const RankActivity activity = state(other).activity;
      if (activity == RankActivity::kRunning || activity == RankActivity::kStarting) return other;
    }
    return std::nullopt;
  }

 private:
  int size() const { return static_cast<int>(ranks_.size()); }
  const RankState& state(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  int next(int rank) const { return waits_for_[static_cast<std::size_t>(rank)]; }
  bool finished(int rank) const { return state(rank).activity == RankActivity::kFinished; }

  const PostedOp* waited(int rank) const {
    const RankState& own = state(rank);
    if (own.activity != RankActivity::kWaiting || !own.waiting_for || *own.waiting_for >= own.posted.size())
      return nullptr;
    const PostedOp& op = own.posted[*own.waiting_for];
    return op.peer >= 0 && op.peer < size() ? &op : nullptr;
  }

  // True only if certain: message n has its counterpart once the peer has posted more than n messages.
  bool unmatched(int rank, const PostedOp& op) const {
    const RankState& peer = state(op.peer);
    for (const ChannelCount& channel : peer.channels) {
      if (channel.direction == opposite(op.direction) && channel.peer == rank && channel.group == op.group &&
          channel.tag == op.tag) {
        return channel.posted <= op.sequence;
      }
    }
    return peer.complete;
  }

  // The rank at which the chain from here ends; kNobody if it never does.
  int end_of_chain(int rank) const {
    for (int step = 0; step <= size(); ++step) {
      if (next(rank) == kNobody) return rank;
      rank = next(rank);
    }
    return kNobody;
  }

  std::vector<bool> stuck_ranks() const {
    std::vector<bool> stuck(ranks_.size());
    for (int rank = 0; rank < size(); ++rank) {
      const int end = end_of_chain(rank);
      stuck[static_cast<std::size_t>(rank)] = end == kNobody || finished(end);
    }
    return stuck;
  }

  // The cycle with the lowest rank of any cycle, starting at that rank; empty if there is none.
  std::vector<int> cycle() const {
    for (int first = 0; first < size(); ++first) {
      std::vector<int> path;
      for (int rank = first; rank != kNobody && path.size() <= ranks_.size(); rank = next(rank)) {
        path.push_back(rank);
        if (next(rank) == first) return path;
      }
    }
    return {};
  }

  std::vector<int> wait_for_a_finished_rank() const {
    for (int rank = 0; rank < size(); ++rank) {
      if (next(rank) != kNobody && finished(next(rank))) return {rank, next(rank)};
    }
    return {};
  }

  std::string cycle_message(const std::vector<int>& ranks) const {
    std::vector<std::string> waits;
    for (int rank : ranks) waits.push_back(fmt::format("rank {} {}", rank, describe_wait(*waited(rank))));
    return fmt::format("deadlock: {}", fmt::join(waits, ", "));
  }

  std::string finished_message(const std::vector<int>& ranks) const {
    return fmt::format("deadlock: rank {} {}, but rank {} has already returned", ranks[0],
                       describe_wait(*waited(ranks[0])), ranks[1]);
  }

  std::string tag_clause(int rank, const PostedOp& op) const {
    const bool send = op.direction == Direction::kSend;
    return fmt::format("rank {} {} {} {} rank {} with tag {}{}", rank,
                       waited(rank) == &op ? (send ? "waits to send" : "waits to receive")
                                           : (send ? "has posted a send of" : "has posted a receive of"),
                       describe_bytes(op.bytes), send ? "to" : "from", op.peer, op.tag,
                       op.where.empty() ? "" : " (" + op.where + ")");
  }

  // What a stuck rank waits for, and what its stuck peer has posted in the other direction, differing only in the tag.
  // A pair that both ranks wait for is the better explanation, so it is searched first.
  std::optional<Diagnosis> tag_mismatch(const std::vector<bool>& stuck) const {
    for (const bool both_wait : {true, false}) {
      for (int rank = 0; rank < size(); ++rank) {
        if (next(rank) == kNobody || !stuck[static_cast<std::size_t>(rank)]) continue;
        const PostedOp& op = *waited(rank);
        for (const PostedOp& other : state(op.peer).posted) {
          if (both_wait && waited(op.peer) != &other) continue;
          if (other.peer != rank || other.direction == op.direction || other.group != op.group || other.tag == op.tag)
            continue;
          if (other.bytes != op.bytes || other.contract != op.contract || !unmatched(op.peer, other)) continue;
          Diagnosis found;
          std::string first = tag_clause(rank, op), second = tag_clause(op.peer, other);
          if (op.peer < rank) std::swap(first, second);
          found.message = fmt::format("tag mismatch: {}, {}", first, second);
          found.ranks = {rank, op.peer};
          return found;
        }
      }
    }
    return std::nullopt;
  }

  const std::vector<RankState>& ranks_;
  std::vector<int> waits_for_;
};

}  // namespace

std::optional<int> find_late_rank(const std::vector<RankState>& ranks, int first) {
  return WaitGraph(ranks).late_rank(first);
}

std::optional<Diagnosis> diagnose(const std::vector<RankState>& ranks) {
  return WaitGraph(ranks).diagnose();
}

}  // namespace lab
