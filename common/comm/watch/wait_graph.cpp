#include "common/comm/watch/wait_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/signal_name.h"

// A rank that waits for one message waits for exactly one peer, so the waits form a graph with at most one edge out of
// each rank: following the edges either reaches a rank again (a cycle) or ends at a rank that does not wait.
namespace lab::comm {
namespace {

constexpr int kNobody = -1;

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
      if (channel == op.of_peer(rank)) return channel.posted <= op.sequence;
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

constexpr std::size_t kMaxListed = 4;

std::string in_parentheses(const std::string& where) {
  return where.empty() ? "" : fmt::format(" ({})", where);
}

// " in all_reduce" for a message of a collective; empty for plain messages.
std::string inside(const std::string& operation) {
  for (const char* plain : {"", "send", "recv", "isend", "irecv"}) {
    if (operation == plain) return "";
  }
  return " in " + operation;
}

std::string describe_posted(const PostedOp& op) {
  const bool send = op.direction == Direction::kSend;
  return fmt::format("{} of {} {} rank {}, tag {}{}{}", send ? "send" : "recv", describe_bytes(op.bytes),
                     send ? "to" : "from", op.peer, op.tag, inside(op.operation), in_parentheses(op.where));
}

std::string describe_activity(const RankState& state) {
  switch (state.activity) {
    case RankActivity::kStarting: return "has not joined yet";
    case RankActivity::kRunning: return "computes";
    case RankActivity::kWaiting:
      return state.waiting_for && *state.waiting_for < state.posted.size()
                 ? describe_wait(state.posted[*state.waiting_for])
                 : "waits";
    case RankActivity::kCollective:
      return state.detail.empty() ? "is inside a collective" : "is inside " + state.detail;
    case RankActivity::kFinished: return "has already returned";
    case RankActivity::kFailed: return state.detail.empty() ? "failed" : "failed: " + state.detail;
  }
  return "is in an unknown state";
}

}  // namespace

PostedOp PostedOpView::op(std::uint64_t sequence) const {
  return {*this,
          sequence,
          bytes,
          std::string(operation),
          fmt::format("{} [{}]", dtype, fmt::join(shape, shape + num_dims, ", ")),
          where.text()};
}

std::optional<int> find_late_rank(const std::vector<RankState>& ranks, int first) {
  return WaitGraph(ranks).late_rank(first);
}

std::optional<Diagnosis> diagnose(const std::vector<RankState>& ranks) {
  return WaitGraph(ranks).diagnose();
}

std::string describe_wait(const PostedOp& op) {
  const bool send = op.direction == Direction::kSend;
  return fmt::format("waits to {} {} {} rank {}{}{}", send ? "send" : "receive", describe_bytes(op.bytes),
                     send ? "to" : "from", op.peer, inside(op.operation), in_parentheses(op.where));
}

std::string describe_rank(const RankState& state) {
  std::string line = describe_activity(state);
  const bool works = state.activity == RankActivity::kRunning || state.activity == RankActivity::kCollective;
  if (works && !state.task.empty()) line += fmt::format(" in {}", state.task);
  if (works && !state.where.empty()) line += fmt::format(" at {}", state.where);
  if (state.stopped_by != 0) line = fmt::format("is stopped by {} while it {}", signal_name(state.stopped_by), line);
  std::size_t listed = 0;
  std::uint64_t more = state.unlisted;
  for (std::size_t i = 0; i < state.posted.size(); ++i) {
    if (state.activity == RankActivity::kWaiting && state.waiting_for == i) continue;
    if (listed == kMaxListed) {
      ++more;
      continue;
    }
    line += (listed++ == 0 ? "; also posted: " : ", ") + describe_posted(state.posted[i]);
  }
  if (more > 0) line += fmt::format("{}{} more", listed == 0 ? "; also posted: " : " and ", more);
  return line;
}

}  // namespace lab::comm
