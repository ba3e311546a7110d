#include "common/comm/message_step.h"

namespace lab {

MessageStep::~MessageStep() {
  for (auto& pending : pending_) transport_.abandon(std::move(pending));
}

void MessageStep::wait() {
  for (const auto& pending : pending_) transport_.wait(*pending);
  pending_.clear();
}

void MessageStep::post(Direction direction, const at::Tensor& tensor, int member, bool contract_only) {
  Message message;
  message.direction = direction;
  message.peer = group_.world_rank(member);
  message.group = group_.id | kCollectiveChannel;
  message.operation = operation_;
  message.where = where_;
  message.tensor = tensor;
  message.contract_only = contract_only;
  pending_.push_back(direction == Direction::kSend ? transport_.start_send(std::move(message))
                                                   : transport_.start_recv(std::move(message)));
}

}  // namespace lab
