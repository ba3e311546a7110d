#include "common/pipeline/messages.h"

#include <deque>

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

Actions with_messages(const Schedule& schedule, int rank, const Actions& computations, Waiting waiting) {
  return waiting == Waiting::kBlocking ? blocking(schedule, rank, computations)
                                       : LateMessages(schedule, rank).around(computations);
}

}  // namespace lab::pipeline
