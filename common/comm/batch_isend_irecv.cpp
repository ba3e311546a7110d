#include "common/comm/batch_isend_irecv.h"

#include <algorithm>

namespace lab::comm {

BatchIsendIrecv::~BatchIsendIrecv() {
  for (auto& pending : pending_) transport_.abandon(std::move(pending));
}

void BatchIsendIrecv::wait() {
  // The members meet at the model time of the latest of them.
  for (const auto& pending : pending_) {
    transport_.wait(*pending);
    latest_model_time_ = std::max(latest_model_time_, pending->peer_model_posted);
  }
  pending_.clear();
}

void BatchIsendIrecv::post(Direction direction, const at::Tensor& tensor, int member,
                           std::optional<std::int64_t> model_time) {
  Message message;
  message.direction = direction;
  message.peer = group_.world_rank(member);
  message.group = group_.id | kCollectiveChannel;
  message.operation = operation_;
  message.where = where_;
  message.tensor = tensor;
  message.contract_only = model_time.has_value();
  message.model_posted = model_time.value_or(0);
  pending_.push_back(transport_.post(std::move(message)));
}

}  // namespace lab::comm
