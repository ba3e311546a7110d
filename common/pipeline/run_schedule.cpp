#include "common/pipeline/run_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "common/api/errors.h"
#include "common/base/text.h"

namespace lab::pipeline {
namespace {

/// One rank's work on its list.
class Run {
 public:
  Run(const Schedule& schedule, PointToPoint& p2p, StageWork& work, const Buffers& buffers)
      : schedule_(schedule), p2p_(p2p), work_(work), buffers_(buffers) {}

  void carry_out(const Action& action) {
    if (is_message(action.operation)) {
      if (action.extent != Extent::kFinish) start(action);
      if (action.extent != Extent::kStart) finish(action);
    } else {
      compute(action);
    }
  }

 private:
  /// Identifies data: the operation by which it leaves or enters, the stage and the micro-batch.
  using Key = std::tuple<Operation, int, int>;

  int stage(const Action& action) const { return schedule_.find_stage(p2p_.rank(), action.chunk); }
  Key key(Operation operation, const Action& action) const { return {operation, stage(action), action.micro_batch}; }

  void compute(const Action& action) {
    switch (action.operation) {
      case Operation::kForward: {
        const at::Tensor input = take_input(Operation::kRecvForward, action);
        give_output(Operation::kSendForward, action, work_.forward(action.chunk, action.micro_batch, input));
        break;
      }
      case Operation::kBackward: {
        const at::Tensor grad = take_input(Operation::kRecvBackward, action);
        give_output(Operation::kSendBackward, action, work_.backward(action.chunk, action.micro_batch, grad));
        break;
      }
      case Operation::kBackwardInput: {
        const at::Tensor grad = take_input(Operation::kRecvBackward, action);
        give_output(Operation::kSendBackward, action, work_.backward_input(action.chunk, action.micro_batch, grad));
        break;
      }
      default: work_.backward_weight(action.chunk, action.micro_batch);
    }
  }

  /// A computation's input; undefined at the pipeline's ends.
  at::Tensor take_input(Operation operation, const Action& action) {
    return peer_stage(schedule_, operation, stage(action)) < 0 ? at::Tensor() : take(key(operation, action), action);
  }

  /// Where a computation's result goes: nowhere, to another stage of this rank, or to the message that sends it.
  void give_output(Operation operation, const Action& action, const at::Tensor& output) {
    const int peer = peer_stage(schedule_, operation, stage(action));
    if (peer < 0) return;
    const bool stays = schedule_.rank_of_stage(peer) == p2p_.rank();
    const Operation arrival = operation == Operation::kSendForward ? Operation::kRecvForward : Operation::kRecvBackward;
    at_hand_[stays ? Key{arrival, peer, action.micro_batch} : key(operation, action)] = output.detach();
  }

  void start(const Action& action) {
    const int other_stage = peer_stage(schedule_, action.operation, stage(action));
    const int peer = schedule_.rank_of_stage(other_stage);
    const int tag = message_tag(schedule_, p2p_.rank(), action);
    const Key name = key(action.operation, action);
    if (is_send(action.operation)) {
      under_way_.emplace(name, p2p_.isend(take(name, action), peer, tag));
    } else {
      const int fed_stage = std::max(stage(action), other_stage);  // forward: this one; backward: the one after it
      under_way_.emplace(name, p2p_.irecv(buffers_(fed_stage, action.micro_batch), peer, tag));
    }
  }

  void finish(const Action& action) {
    const Key name = key(action.operation, action);
    const auto found = under_way_.find(name);
    if (found == under_way_.end()) refuse(action);
    Request request = std::move(found->second);
    under_way_.erase(found);
    const at::Tensor tensor = request.wait();
    if (!is_send(action.operation)) at_hand_[name] = tensor;
  }

  at::Tensor take(const Key& name, const Action& action) {
    const auto found = at_hand_.find(name);
    if (found == at_hand_.end()) refuse(action);
    at::Tensor tensor = std::move(found->second);
    at_hand_.erase(found);
    return tensor;
  }

  [[noreturn]] void refuse(const Action& action) const {
    throw ContractError(fmt::format("{} comes before what it needs", describe(schedule_, action)));
  }

  const Schedule& schedule_;
  PointToPoint& p2p_;
  StageWork& work_;
  const Buffers& buffers_;
  std::map<Key, at::Tensor> at_hand_;  ///< received or computed, and not used yet
  std::map<Key, Request> under_way_;
};

}  // namespace

Buffers same_buffers(at::IntArrayRef shape, const at::TensorOptions& options) {
  return [sizes = shape.vec(), options](int, int) { return at::empty(sizes, options); };
}

void run_schedule(const Schedule& schedule, PointToPoint& p2p, StageWork& work, const Buffers& buffers) {
  if (schedule.num_ranks != p2p.size()) {
    throw ContractError(
        fmt::format("the schedule is for {}, and there are {}", counted(schedule.num_ranks, "rank"), p2p.size()));
  }
  Run run(schedule, p2p, work, buffers);
  for (const Action& action : schedule.ranks[static_cast<std::size_t>(p2p.rank())]) run.carry_out(action);
}

}  // namespace lab::pipeline
