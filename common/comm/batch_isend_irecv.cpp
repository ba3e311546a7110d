#include "common/comm/batch_isend_irecv.h"

namespace lab::comm {

BatchIsendIrecv::~BatchIsendIrecv() {
  for (auto& pending : pending_) transport_.abandon(std::move(pending));
}

void BatchIsendIrecv::wait() {
  for (const auto& pending : pending_) transport_.wait(*pending);
  pending_.clear();
}

void BatchIsendIrecv::post(Direction direction, const at::Tensor& tensor, int member, bool contract_only) {
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

}  // namespace lab::comm
