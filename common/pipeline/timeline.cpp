#include "common/pipeline/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "common/api/errors.h"

namespace lab::pipeline {
namespace {

/// A rank that waits for a message whose other end its peer never posts.
struct Stuck {
  Action message;
  int peer_rank = 0;
};

struct Replay {
  std::vector<std::vector<Span>> computations;  ///< of each rank, in order
  std::vector<Span> messages;                   ///< that went from rank to rank, by message_tag()
  std::vector<std::optional<Stuck>> stuck;      ///< of each rank: where its list could not go on
};

struct Message {
  bool send_posted = false;
  bool recv_posted = false;
  double last_post_seconds = 0;

  bool both_posted() const { return send_posted && recv_posted; }
};

struct RankState {
  std::size_t next = 0;  ///< the next action in its list
  double now_seconds = 0;
  int awaited_tag = -1;  ///< of the message that it waits for
};

class Player {
 public:
  Player(const Schedule& schedule, const Costs& costs)
      : schedule_(schedule),
        costs_(costs),
        message_seconds_(costs.latency_seconds + static_cast<double>(costs.message_bytes) * costs.seconds_per_byte),
        ranks_(schedule.ranks.size()),
        messages_(2 * static_cast<std::size_t>(schedule.num_stages()) *
                  static_cast<std::size_t>(schedule.num_micro_batches)) {
    result_.computations.resize(ranks_.size());
    result_.stuck.resize(ranks_.size());
  }

  Replay play() {
    for (int rank = 0; rank < schedule_.num_ranks; ++rank) can_go_on_.push_back(rank);
    while (!can_go_on_.empty()) {
      const int rank = can_go_on_.back();
      can_go_on_.pop_back();
      go_on(rank);
    }
    for (int rank = 0; rank < schedule_.num_ranks; ++rank) note_where_stuck(rank);
    note_messages();
    return std::move(result_);
  }

 private:
  RankState& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  Message& message(int tag) { return messages_[static_cast<std::size_t>(tag)]; }
  const std::vector<Action>& list(int rank) const { return schedule_.ranks[static_cast<std::size_t>(rank)]; }

  void go_on(int rank) {
    RankState& self = state(rank);
    while (self.next < list(rank).size()) {
      const Action& action = list(rank)[self.next];
      if (!is_message(action.operation)) {
        compute(rank, action);
      } else if (!post_or_wait(rank, action)) {
        return;
      }
      ++self.next;
    }
  }

  void compute(int rank, const Action& action) {
    double& now = state(rank).now_seconds;
    const double start = now;
    now += computation_seconds(costs_, action.operation, schedule_.find_stage(rank, action.chunk));
    result_.computations[static_cast<std::size_t>(rank)].push_back({rank, action, start, now});
  }

  /// Whether the action is done; if not, the rank waits for the message's other end.
  bool post_or_wait(int rank, const Action& action) {
    RankState& self = state(rank);
    const int tag = message_tag(schedule_, rank, action);
    const bool waited_already = self.awaited_tag == tag;
    if (action.extent != Extent::kFinish && !waited_already) post(rank, action, tag);
    if (action.extent == Extent::kStart) return true;
    self.awaited_tag = message(tag).both_posted() ? -1 : tag;
    if (self.awaited_tag == tag) return false;
    self.now_seconds = std::max(self.now_seconds, message(tag).last_post_seconds + message_seconds_);
    return true;
  }

  void post(int rank, const Action& action, int tag) {
    Message& posted = message(tag);
    (is_send(action.operation) ? posted.send_posted : posted.recv_posted) = true;
    posted.last_post_seconds = std::max(posted.last_post_seconds, state(rank).now_seconds);
    const int peer = peer_rank(schedule_, rank, action);
    if (posted.both_posted() && state(peer).awaited_tag == tag) can_go_on_.push_back(peer);
  }

  void note_messages() {
    for (int tag = 0; tag < static_cast<int>(messages_.size()); ++tag) {
      if (!message(tag).both_posted()) continue;
      const bool forward = tag < schedule_.num_stages() * schedule_.num_micro_batches;
      const int src_stage = tag / schedule_.num_micro_batches % schedule_.num_stages();
      const Action send{forward ? Operation::kSendForward : Operation::kSendBackward, tag % schedule_.num_micro_batches,
                        schedule_.chunk_of_stage(src_stage)};
      const double begin = message(tag).last_post_seconds;
      result_.messages.push_back({schedule_.rank_of_stage(src_stage), send, begin, begin + message_seconds_});
    }
  }

  void note_where_stuck(int rank) {
    const RankState& self = state(rank);
    if (self.next == list(rank).size()) return;
    const Action& action = list(rank)[self.next];
    result_.stuck[static_cast<std::size_t>(rank)] = Stuck{action, peer_rank(schedule_, rank, action)};
  }

  const Schedule& schedule_;
  const Costs& costs_;
  const double message_seconds_;
  std::vector<RankState> ranks_;
  std::vector<Message> messages_;  ///< by tag
  std::vector<int> can_go_on_;
  Replay result_;
};

const Stuck& stuck_at(const Replay& replay, int rank) {
  return replay.stuck[static_cast<std::size_t>(rank)].value();
}

/// A stuck rank waits for a rank that is stuck itself, so following the peers ends in a cycle.
std::vector<int> cycle_from(const Replay& replay, int rank) {
  std::vector<int> way;
  std::vector<bool> seen(replay.stuck.size());
  for (; !seen[static_cast<std::size_t>(rank)]; rank = stuck_at(replay, rank).peer_rank) {
    seen[static_cast<std::size_t>(rank)] = true;
    way.push_back(rank);
  }
  way.erase(way.begin(), std::find(way.begin(), way.end(), rank));
  return way;
}

std::string describe_wait(const Schedule& schedule, int rank, const Stuck& stuck) {
  Action whole = stuck.message;
  whole.extent = Extent::kWhole;
  return fmt::format("rank {} waits for its {} {} rank {}", rank, describe(schedule, whole),
                     is_send(whole.operation) ? "to" : "from", stuck.peer_rank);
}

/// Plays the ranks' lists as far as they go, by the rules of make_timeline(). The result does not depend on which rank
/// is looked at first: no rank ever chooses.
/// Requires  what check_costs() checks
/// Cost      linear in the number of actions: a waiting rank is looked at again only when its message may go
Replay replay(const Schedule& schedule, const Costs& costs) {
  return Player(schedule, costs).play();
}

/// Errors    DeadlockError naming each rank of a cycle and what it waits for (of a long cycle, the first ones)
void check_no_deadlock(const Schedule& schedule, const Replay& replay) {
  const auto first =
      std::find_if(replay.stuck.begin(), replay.stuck.end(), [](const auto& stuck) { return stuck.has_value(); });
  if (first == replay.stuck.end()) return;
  const std::vector<int> cycle = cycle_from(replay, static_cast<int>(first - replay.stuck.begin()));
  constexpr std::size_t kMostNamed = 8;
  const std::size_t named = std::min(cycle.size(), kMostNamed);
  std::string message;
  for (std::size_t i = 0; i < named; ++i) {
    message += (i == 0 ? "" : ", ") + describe_wait(schedule, cycle[i], stuck_at(replay, cycle[i]));
  }
  if (named < cycle.size()) message += fmt::format(", and so on through {} ranks", cycle.size());
  throw DeadlockError(fmt::format("schedule {}: deadlock: {}; hint: start a message, go on, and wait for it later",
                                  schedule.kind, message));
}

void check_not_negative(const char* what, double value) {
  if (std::isfinite(value) && value >= 0) return;
  throw ContractError(fmt::format("costs: expected {} of at least 0, got {:g}", what, value));
}

void check_per_stage(const char* what, const std::vector<double>& seconds, int num_stages) {
  for (const double value : seconds) check_not_negative(what, value);
  if (seconds.size() == 1 || seconds.size() == static_cast<std::size_t>(num_stages)) return;
  throw ContractError(fmt::format("costs: expected one value of {} for all stages or one for each of {}, got {} values",
                                  what, num_stages, seconds.size()));
}

void check_costs(const Costs& costs, int num_stages) {
  check_per_stage("forward_seconds", costs.forward_seconds, num_stages);
  check_per_stage("backward_input_seconds", costs.backward_input_seconds, num_stages);
  check_per_stage("backward_weight_seconds", costs.backward_weight_seconds, num_stages);
  check_not_negative("latency_seconds", costs.latency_seconds);
  check_not_negative("seconds_per_byte", costs.seconds_per_byte);
  check_not_negative("message_bytes", static_cast<double>(costs.message_bytes));
}

/// Counts in chunks, so that three thirds of a rank do not add up to slightly less than one.
double peak_live_activations(const std::vector<Span>& computations, int num_chunks) {
  int live_chunks = 0;
  int peak_chunks = 0;
  for (const Span& span : computations) {
    const Operation operation = span.action.operation;
    if (operation == Operation::kForward) peak_chunks = std::max(peak_chunks, ++live_chunks);
    if (operation == Operation::kBackward || operation == Operation::kBackwardWeight) --live_chunks;
  }
  return static_cast<double>(peak_chunks) / num_chunks;
}

double of_stage(const std::vector<double>& seconds, int stage) {
  return seconds.size() == 1 ? seconds.front() : seconds[static_cast<std::size_t>(stage)];
}

}  // namespace

double Timeline::bubble_fraction() const {
  double busy = 0;
  for (const double seconds : busy_seconds) busy += seconds;
  const double all = makespan_seconds * static_cast<double>(busy_seconds.size());
  return all > 0 ? 1 - busy / all : 0;
}

Timeline make_timeline(const Schedule& schedule, const Costs& costs) {
  check_costs(costs, schedule.num_stages());
  Replay played = replay(schedule, costs);
  check_no_deadlock(schedule, played);

  Timeline timeline;
  for (const std::vector<Span>& computations : played.computations) {
    double busy = 0;
    for (const Span& span : computations) busy += span.end_seconds - span.start_seconds;
    timeline.busy_seconds.push_back(busy);
    timeline.peak_live_activations.push_back(peak_live_activations(computations, schedule.num_chunks));
    timeline.makespan_seconds = std::max(timeline.makespan_seconds, computations.back().end_seconds);
    timeline.computations.insert(timeline.computations.end(), computations.begin(), computations.end());
  }
  timeline.messages = std::move(played.messages);
  for (const Span& message : timeline.messages) {
    Link& link = timeline.links[{message.rank, peer_rank(schedule, message.rank, message.action)}];
    ++link.messages;
    link.bytes += costs.message_bytes;
  }
  return timeline;
}

Costs even_costs(const Schedule& schedule, double forward_seconds, double backward_input_seconds,
                 double backward_weight_seconds) {
  Costs costs;
  costs.forward_seconds = {forward_seconds / schedule.num_chunks};
  costs.backward_input_seconds = {backward_input_seconds / schedule.num_chunks};
  costs.backward_weight_seconds = {backward_weight_seconds / schedule.num_chunks};
  return costs;
}

double computation_seconds(const Costs& costs, Operation operation, int stage) {
  const double input_seconds = of_stage(costs.backward_input_seconds, stage);
  const double weight_seconds = of_stage(costs.backward_weight_seconds, stage);
  switch (operation) {
    case Operation::kForward: return of_stage(costs.forward_seconds, stage);
    case Operation::kBackwardInput: return input_seconds;
    case Operation::kBackwardWeight: return weight_seconds;
    default: return input_seconds + weight_seconds;
  }
}

}  // namespace lab::pipeline
