#include "common/pipeline/generators.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "common/api/errors.h"
#include "common/base/text.h"

namespace lab::pipeline {
namespace {

using Actions = std::vector<Action>;

std::optional<Action> message(const Schedule& schedule, int rank, Operation operation, const Action& computation) {
  const Action whole{operation, computation.micro_batch, computation.chunk};
  const int peer = peer_rank(schedule, rank, whole);
  if (peer < 0 || peer == rank) return std::nullopt;
  return whole;
}

Action part(Action message, Extent extent) {
  message.extent = extent;
  return message;
}

bool is_backward(const Action& action) {
  return action.operation == Operation::kBackward || action.operation == Operation::kBackwardInput;
}

Actions blocking(const Schedule& schedule, int rank, const Actions& computations) {
  Actions actions;
  for (const Action& computation : computations) {
    if (const auto receive = message_before(schedule, rank, computation)) actions.push_back(*receive);
    actions.push_back(computation);
    if (const auto send = message_after(schedule, rank, computation)) actions.push_back(*send);
  }
  return actions;
}

/// One rank's list, while late messages are added to it.
class LateMessages {
 public:
  LateMessages(const Schedule& schedule, int rank)
      : schedule_(schedule), rank_(rank), gradients_under_way_(static_cast<std::size_t>(schedule.num_chunks)) {}

  Actions around(const Actions& computations) {
    if (!computations.empty()) start_receive_for(computations.front());
    for (std::size_t i = 0; i < computations.size(); ++i) {
      // Before anything is awaited: what comes next travels during this computation.
      if (i + 1 < computations.size()) start_receive_for(computations[i + 1]);
      add(message_before(schedule_, rank_, computations[i]), Extent::kFinish);
      if (is_backward(computations[i])) finish_own_send_forward(computations[i]);
      actions_.push_back(computations[i]);
      start_send_after(computations[i]);
    }
    for (const auto& of_chunk : gradients_under_way_) {
      for (const Action& send : of_chunk) add(send, Extent::kFinish);
    }
    return std::move(actions_);
  }

 private:
  void add(const std::optional<Action>& message, Extent extent) {
    if (message) actions_.push_back(part(*message, extent));
  }

  void start_receive_for(const Action& computation) {
    add(message_before(schedule_, rank_, computation), Extent::kStart);
  }

  /// The output is alive until here anyway, and it has arrived: its gradient, just received, was computed from it.
  void finish_own_send_forward(const Action& backward) {
    Action forward = backward;
    forward.operation = Operation::kForward;
    add(message_after(schedule_, rank_, forward), Extent::kFinish);
  }

  void start_send_after(const Action& computation) {
    const auto send = message_after(schedule_, rank_, computation);
    if (send && send->operation == Operation::kSendBackward) {
      auto& under_way = gradients_under_way_[static_cast<std::size_t>(computation.chunk)];
      if (under_way.size() == most_gradients_under_way()) {
        add(under_way.front(), Extent::kFinish);
        under_way.pop_front();
      }
      under_way.push_back(*send);
    }
    add(send, Extent::kStart);
  }

  /// Of one chunk; each holds its own memory. One is enough where a rank has one chunk: the receiver takes the
  /// gradients in order, so it cannot use the second before it has taken the first. With several chunks that take
  /// different times, waiting for one would delay another, by up to 4 % of the makespan; with as many as a group has
  /// micro-batches it never does (makespan_test.cpp compares with the computations' own dependencies).
  std::size_t most_gradients_under_way() const {
    return schedule_.num_chunks == 1 ? 1 : static_cast<std::size_t>(schedule_.num_ranks);
  }

  const Schedule& schedule_;
  const int rank_;
  Actions actions_;
  std::vector<std::deque<Action>> gradients_under_way_;  ///< by chunk, oldest first
};

/// The computations of one rank with the messages that they need.
Actions with_messages(const Schedule& schedule, int rank, const Actions& computations, Waiting waiting) {
  return waiting == Waiting::kBlocking ? blocking(schedule, rank, computations)
                                       : LateMessages(schedule, rank).around(computations);
}

// In which order a rank computes, one function per kind of schedule. Messages are added later, the same way for all.
std::vector<Action> one_for_each_micro_batch(Operation operation, const ScheduleOptions& options) {
  std::vector<Action> actions;
  for (int i = 0; i < options.num_micro_batches; ++i) actions.push_back({operation, i});
  return actions;
}

/// `count` forward passes first, then a forward and a backward pass in turn, then the backward passes that are left.
std::vector<Action> warm_up_then_alternate(int count, const std::vector<Action>& forwards,
                                           const std::vector<Action>& backwards) {
  std::vector<Action> order(forwards.begin(), forwards.begin() + count);
  auto backward = backwards.begin();
  for (auto forward = forwards.begin() + count; forward != forwards.end(); ++forward) {
    order.push_back(*forward);
    order.push_back(*backward++);
  }
  order.insert(order.end(), backward, backwards.end());
  return order;
}

std::vector<Action> all_forward_all_backward(const ScheduleOptions& options, int /*rank*/) {
  return warm_up_then_alternate(options.num_micro_batches, one_for_each_micro_batch(Operation::kForward, options),
                                one_for_each_micro_batch(Operation::kBackward, options));
}

std::vector<Action> one_forward_one_backward(const ScheduleOptions& options, int rank) {
  // Micro-batch 0 passes p-1-r more stages before it comes back: meanwhile there is time for that many forward passes.
  const int warm_up = std::min(options.num_micro_batches, options.num_ranks - 1 - rank);
  return warm_up_then_alternate(warm_up, one_for_each_micro_batch(Operation::kForward, options),
                                one_for_each_micro_batch(Operation::kBackward, options));
}

// A group of p micro-batches goes through chunk 0, then through chunk 1, and so on; then the next group begins. When
// its last member has left a chunk on rank 0, its first one is back from the last rank and wants the next chunk.
std::vector<Action> interleaved(const ScheduleOptions& options, int rank) {
  const int p = options.num_ranks;
  const int v = options.num_chunks;
  const int total = options.num_micro_batches * v;
  std::vector<Action> forwards, backwards;
  for (int k = 0; k < total; ++k) {
    const int chunk = k / p % v;
    const int micro_batch = k / (p * v) * p + k % p;
    forwards.push_back({Operation::kForward, micro_batch, chunk});
    backwards.push_back({Operation::kBackward, micro_batch, v - 1 - chunk});
  }
  // The first group through the first v-1 chunks; then, as each backward pass goes through the ranks in the time of
  // two forward passes, twice what plain 1F1B begins with.
  const int warm_up = std::min(total, 2 * (p - 1 - rank) + (v - 1) * p);
  return warm_up_then_alternate(warm_up, forwards, backwards);
}

// No rank waits for the weights' gradients, so rank r computes each of them r micro-batches late and has r of them left
// for the drain, where 1F1B would idle. Deferring them keeps activations alive: r micro-batches more than 1F1B's p-r,
// so every rank holds p, which is what 1F1B's rank 0 holds. With all times 1 the makespan is 3m + p-1; with m < p the
// first micro-batch's way there and back leaves gaps that nothing can fill, and it is 2m + 2p-1.
std::vector<Action> zero_bubble(const ScheduleOptions& options, int rank) {
  const int m = options.num_micro_batches;
  const int warm_up = std::min(m, options.num_ranks - rank);
  std::vector<Action> order;
  for (int i = 0; i < warm_up; ++i) order.push_back({Operation::kForward, i});
  for (int i = 0; i < m; ++i) {
    order.push_back({Operation::kBackwardInput, i});
    if (i >= rank) order.push_back({Operation::kBackwardWeight, i - rank});
    if (warm_up + i < m) order.push_back({Operation::kForward, warm_up + i});
  }
  for (int i = std::max(0, m - rank); i < m; ++i) order.push_back({Operation::kBackwardWeight, i});
  return order;
}

using Order = std::vector<Action> (*)(const ScheduleOptions&, int rank);

Order choose_order(const std::string& kind) {
  if (kind == "afab") return all_forward_all_backward;
  if (kind == "1f1b") return one_forward_one_backward;
  if (kind == "interleaved") return interleaved;
  if (kind == "zb-h1") return zero_bubble;
  throw UsageError(fmt::format("schedule '{}': expected one of {}{}", kind, fmt::join(schedule_kinds(), ", "),
                               did_you_mean(kind, schedule_kinds())));
}

void check_at_least_one(const ScheduleOptions& options, const char* of_what, int count) {
  if (count >= 1) return;
  throw UsageError(fmt::format("schedule {}: expected at least 1 {}, got {}", options.kind, of_what, count));
}

/// A mistyped number should not take all memory.
void check_size(const ScheduleOptions& options) {
  constexpr double kMost = 1e7;
  const double passes = 1.0 * options.num_ranks * options.num_micro_batches * options.num_chunks;
  if (passes <= kMost) return;
  throw UsageError(
      fmt::format("schedule {}: expected at most {:.0f} forward passes in all, got {} ranks x {} micro-batches x {} "
                  "chunks",
                  options.kind, kMost, options.num_ranks, options.num_micro_batches, options.num_chunks));
}

void check(const ScheduleOptions& options) {
  check_at_least_one(options, "rank", options.num_ranks);
  check_at_least_one(options, "micro-batch", options.num_micro_batches);
  check_at_least_one(options, "chunk", options.num_chunks);
  check_size(options);
  if (options.kind != "interleaved") {
    if (options.num_chunks == 1) return;
    throw UsageError(fmt::format("schedule {}: expected 1 chunk on each rank, got {}; hint: only interleaved has more",
                                 options.kind, options.num_chunks));
  }
  if (options.num_micro_batches % options.num_ranks == 0) return;
  throw UsageError(
      fmt::format("schedule interleaved: expected a multiple of {} micro-batches, as many as ranks, got {}; hint: the "
                  "others take any number",
                  options.num_ranks, options.num_micro_batches));
}

}  // namespace

std::optional<Action> message_before(const Schedule& schedule, int rank, const Action& computation) {
  if (computation.operation == Operation::kForward) {
    return message(schedule, rank, Operation::kRecvForward, computation);
  }
  if (is_backward(computation)) return message(schedule, rank, Operation::kRecvBackward, computation);
  return std::nullopt;
}

std::optional<Action> message_after(const Schedule& schedule, int rank, const Action& computation) {
  if (computation.operation == Operation::kForward) {
    return message(schedule, rank, Operation::kSendForward, computation);
  }
  if (is_backward(computation)) return message(schedule, rank, Operation::kSendBackward, computation);
  return std::nullopt;
}

const std::vector<std::string>& schedule_kinds() {
  static const std::vector<std::string> kinds = {"afab", "1f1b", "interleaved", "zb-h1"};
  return kinds;
}

int usual_chunks(const std::string& kind) {
  return kind == "interleaved" ? 2 : 1;
}

Schedule make_schedule(const ScheduleOptions& options) {
  const Order order = choose_order(options.kind);
  check(options);
  Schedule schedule{options.kind, options.num_ranks, options.num_micro_batches, options.num_chunks, {}};
  for (int rank = 0; rank < options.num_ranks; ++rank) {
    schedule.ranks.push_back(with_messages(schedule, rank, order(options, rank), options.waiting));
  }
  return schedule;
}

}  // namespace lab::pipeline
