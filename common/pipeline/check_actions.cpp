#include "common/pipeline/check_actions.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "common/api/errors.h"
#include "common/pipeline/generators.h"
#include "common/pipeline/schedule.h"

namespace lab::pipeline {
namespace {

enum class Progress : std::uint8_t { kNone, kStarted, kDone };

/// Walks through one rank's list and tracks how far each operation of each micro-batch and chunk is.
class ListCheck {
 public:
  ListCheck(const Schedule& schedule, int rank) : schedule_(schedule), rank_(rank) {
    progress_.resize(static_cast<std::size_t>(schedule.num_chunks) *
                     static_cast<std::size_t>(schedule.num_micro_batches));
  }

  void check() {
    for (; index_ < list().size(); ++index_) take(list()[index_]);
    for (int chunk = 0; chunk < schedule_.num_chunks; ++chunk) {
      for (int i = 0; i < schedule_.num_micro_batches; ++i) check_complete(i, chunk);
    }
  }

 private:
  const std::vector<Action>& list() const { return schedule_.ranks[static_cast<std::size_t>(rank_)]; }

  Progress& progress(Operation operation, const Action& of) {
    const auto place = static_cast<std::size_t>(of.chunk) * static_cast<std::size_t>(schedule_.num_micro_batches) +
                       static_cast<std::size_t>(of.micro_batch);
    return progress_[place][static_cast<std::size_t>(operation)];
  }

  bool done(Operation operation, const Action& of) { return progress(operation, of) == Progress::kDone; }

  bool done(const Action& action) { return done(action.operation, action); }

  bool input_gradient_done(const Action& of) {
    return done(Operation::kBackward, of) || done(Operation::kBackwardInput, of);
  }

  [[noreturn]] void refuse(const Action& action, const std::string& what) const {
    throw ContractError(fmt::format("schedule {}, rank {}, action {}, {}: {}", schedule_.kind, rank_, index_,
                                    describe(schedule_, action), what));
  }

  [[noreturn]] void refuse_missing(const Action& action, const char* what) const {
    throw ContractError(
        fmt::format("schedule {}, rank {}: {} {}", schedule_.kind, rank_, describe(schedule_, action), what));
  }

  void take(const Action& action) {
    check_place("micro-batch", action, action.micro_batch, schedule_.num_micro_batches);
    check_place("chunk", action, action.chunk, schedule_.num_chunks);
    if (is_message(action.operation)) {
      take_message(action);
    } else {
      take_computation(action);
    }
  }

  void check_place(const char* of, const Action& action, int got, int count) const {
    if (got >= 0 && got < count) return;
    refuse(action, fmt::format("there is no {} {}; expected 0 to {}", of, got, count - 1));
  }

  void take_message(const Action& message) {
    check_has_peer(message);
    if (is_send(message.operation)) check_computed(message);
    Progress& now = progress(message.operation, message);
    if (message.extent == Extent::kFinish) {
      if (now == Progress::kNone) refuse(message, "it was not started; expected its start earlier in the list");
      if (now == Progress::kDone) refuse(message, "it is finished already; expected that once");
      now = Progress::kDone;
      return;
    }
    if (now != Progress::kNone) refuse(message, "it was started already; expected that once");
    now = message.extent == Extent::kStart ? Progress::kStarted : Progress::kDone;
  }

  void check_has_peer(const Action& message) const {
    const int stage = schedule_.find_stage(rank_, message.chunk);
    const int peer = peer_rank(schedule_, rank_, message);
    if (peer < 0) refuse(message, fmt::format("stage {} has no stage beyond it; expected no such message", stage));
    if (peer == rank_) refuse(message, "the next stage is on the same rank; expected no message");
  }

  void check_computed(const Action& send) {
    const bool forward = send.operation == Operation::kSendForward;
    if (forward ? done(Operation::kForward, send) : input_gradient_done(send)) return;
    refuse(send, fmt::format("it is not computed yet; expected the {} pass earlier in the list",
                             forward ? "forward" : "backward"));
  }

  void take_computation(const Action& action) {
    if (action.extent != Extent::kWhole) refuse(action, "only messages have a start and an end; expected it whole");
    if (done(action)) refuse(action, "it is done already; expected that once");
    switch (action.operation) {
      case Operation::kForward: check_input(action); break;
      case Operation::kBackwardWeight: check_after_input_gradient(action); break;
      default: check_forward_and_output_gradient(action);
    }
    progress(action.operation, action) = Progress::kDone;
  }

  void check_input(const Action& forward) {
    check_received_before(forward);
    if (schedule_.num_ranks > 1 || forward.chunk == 0) return;
    Action previous = forward;
    --previous.chunk;
    if (!done(previous)) refuse(forward, fmt::format("expected {} earlier in the list", describe(schedule_, previous)));
  }

  void check_forward_and_output_gradient(const Action& backward) {
    if (input_gradient_done(backward)) refuse_mixture(backward);
    if (!done(Operation::kForward, backward)) {
      refuse(backward, "the forward pass is not done yet; expected it earlier in the list");
    }
    check_received_before(backward);
    if (schedule_.num_ranks > 1 || backward.chunk + 1 == schedule_.num_chunks) return;
    Action next = backward;
    ++next.chunk;
    if (input_gradient_done(next)) return;
    refuse(backward, fmt::format("expected {} earlier in the list", describe(schedule_, next)));
  }

  void check_received_before(const Action& computation) {
    const auto receive = message_before(schedule_, rank_, computation);
    if (!receive || done(*receive)) return;
    refuse(computation, fmt::format("expected {}{} earlier in the list",
                                    progress(receive->operation, *receive) == Progress::kStarted ? "the end of " : "",
                                    describe(schedule_, *receive)));
  }

  void check_after_input_gradient(const Action& weight) {
    if (done(Operation::kBackward, weight)) refuse_mixture(weight);
    if (done(Operation::kBackwardInput, weight)) return;
    refuse(weight, "the input's gradient is not computed yet; expected backward_input earlier in the list");
  }

  [[noreturn]] void refuse_mixture(const Action& action) const {
    refuse(action, "expected a backward pass either whole or in two halves, got a mixture");
  }

  void check_complete(int micro_batch, int chunk) {
    check_done({Operation::kForward, micro_batch, chunk});
    const bool halves = done({Operation::kBackwardInput, micro_batch, chunk});
    check_done({halves ? Operation::kBackwardWeight : Operation::kBackward, micro_batch, chunk});
    for (const Operation producer : {Operation::kForward, Operation::kBackward}) {
      if (const auto send = message_after(schedule_, rank_, {producer, micro_batch, chunk})) check_done(*send);
    }
  }

  void check_done(const Action& action) {
    const Progress now = progress(action.operation, action);
    if (now == Progress::kNone) refuse_missing(action, "is missing; expected it once");
    if (now == Progress::kStarted) refuse_missing(action, "is started and never finished");
  }

  const Schedule& schedule_;
  const int rank_;
  std::size_t index_ = 0;
  std::vector<std::array<Progress, kNumOperations>> progress_;  ///< by chunk and micro-batch
};

/// Checks that one rank's list is complete and in an order that can be computed.
/// Requires  a list as long as check_actions() expects
/// Errors    ContractError naming rank, action and what is wrong
void check_list(const Schedule& schedule, int rank) {
  ListCheck(schedule, rank).check();
}

void check_shape(const Schedule& schedule) {
  if (schedule.num_ranks < 1 || schedule.num_micro_batches < 1 || schedule.num_chunks < 1) {
    throw ContractError(
        fmt::format("schedule {}: expected at least 1 rank, 1 micro-batch and 1 chunk, got {}, {} and {}",
                    schedule.kind, schedule.num_ranks, schedule.num_micro_batches, schedule.num_chunks));
  }
  if (schedule.ranks.size() == static_cast<std::size_t>(schedule.num_ranks)) return;
  throw ContractError(fmt::format("schedule {}: expected a list of actions for each of {} ranks, got {} lists",
                                  schedule.kind, schedule.num_ranks, schedule.ranks.size()));
}

/// Also keeps a wrong number of micro-batches from allocating tables of that size.
void check_length(const Schedule& schedule, std::size_t rank) {
  const auto least = static_cast<std::size_t>(schedule.num_chunks) *  //
                     static_cast<std::size_t>(schedule.num_micro_batches);
  const std::size_t length = schedule.ranks[rank].size();
  if (length >= least) return;
  throw ContractError(fmt::format(
      "schedule {}, rank {}: expected a forward pass of {} micro-batches through {} chunks, got a list of {} "
      "actions",
      schedule.kind, rank, schedule.num_micro_batches, schedule.num_chunks, length));
}

}  // namespace

void check_actions(const Schedule& schedule) {
  check_shape(schedule);
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) check_length(schedule, rank);
  for (int rank = 0; rank < schedule.num_ranks; ++rank) check_list(schedule, rank);
}

}  // namespace lab::pipeline
