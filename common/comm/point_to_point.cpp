#include "common/comm/point_to_point.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <exception>

#include "common/comm/messages/agreement.h"
#include "common/comm/messages/endpoint.h"

namespace lab::comm {
namespace {

bool travels_itself(const at::Tensor& tensor) {
  const bool has_plain_bytes = !tensor.is_conj() && !tensor.is_neg();
  return (tensor.device().is_cpu() || tensor.is_meta()) && tensor.is_contiguous() && has_plain_bytes;
}

}  // namespace

struct Request::State {
  std::shared_ptr<Endpoint> endpoint;
  Endpoint::Posted posted;
  /// Undefined where the message carries the caller's tensor itself, and not what on_wire() makes of it.
  at::Tensor user_tensor;
};

Request::Request(std::unique_ptr<State> state) : state_(std::move(state)) {}
Request::Request(Request&&) noexcept = default;

Request& Request::operator=(Request&& other) noexcept {
  if (state_) state_->endpoint->abandon(state_->posted);
  state_ = std::move(other.state_);
  return *this;
}

Request::~Request() {
  if (state_) state_->endpoint->abandon(state_->posted);
}

at::Tensor Request::wait() {
  if (!state_) throw ContractError("wait() was called twice on one Request; hint: wait for each Request once");
  const std::unique_ptr<State> state = std::move(state_);
  try {
    state->endpoint->finish(state->posted);
  } catch (...) {
    state->endpoint->forget(state->posted);
    throw;
  }
  const Message& message = state->posted.message();
  if (!state->user_tensor.defined()) return message.tensor;
  if (message.direction == Direction::kRecv) {
    const c10::NoGradGuard no_grad;
    state->user_tensor.copy_(message.tensor);
  }
  return state->user_tensor;
}

PointToPoint::PointToPoint(std::shared_ptr<Endpoint> endpoint, Group group)
    : endpoint_(std::move(endpoint)), group_(std::move(group)) {}

int PointToPoint::host_of(int rank, SourceLine where) const {
  if (rank < 0 || rank >= size())
    throw ContractError(fmt::format("{}: host_of rank {}: expected 0 to {}", where.text(), rank, size() - 1));
  return endpoint_->transport().host_of(group_.world_rank(rank));
}

PointToPoint PointToPoint::subgroup(const std::vector<int>& ranks) const {
  // Unlike a communicator's groups, two of the same ranks share a number: between two ranks, messages keep their order.
  constexpr std::uint32_t kOrdinal = 0x80000000U;
  return PointToPoint(endpoint_, make_group(group_, ranks, kOrdinal));
}

void PointToPoint::send(const at::Tensor& tensor, int dst_rank, int tag, SourceLine where) {
  post_send(tensor, dst_rank, tag, where, true).wait();
}

void PointToPoint::recv(const at::Tensor& tensor, int src_rank, int tag, SourceLine where) {
  post_recv(tensor, src_rank, tag, where, true).wait();
}

Request PointToPoint::isend(const at::Tensor& tensor, int dst_rank, int tag, SourceLine where) {
  return post_send(tensor, dst_rank, tag, where, false);
}

Request PointToPoint::irecv(const at::Tensor& tensor, int src_rank, int tag, SourceLine where) {
  return post_recv(tensor, src_rank, tag, where, false);
}

Request PointToPoint::post_send(const at::Tensor& tensor, int dst_rank, int tag, SourceLine where, bool at_once) {
  const int peer_rank = peer("send to", dst_rank, where);
  if (!tensor.defined()) require_defined(tensor, rank(), fmt::format("send to rank {}", dst_rank), where);
  const Envelope envelope{Direction::kSend, peer_rank, tag, where, at_once};
  return travels_itself(tensor) ? post(envelope, tensor, {}) : post(envelope, on_wire(tensor), tensor);
}

Request PointToPoint::post_recv(const at::Tensor& tensor, int src_rank, int tag, SourceLine where, bool at_once) {
  const int peer_rank = peer("receive from", src_rank, where);
  if (!tensor.defined()) require_defined(tensor, rank(), fmt::format("receive from rank {}", src_rank), where);
  const Envelope envelope{Direction::kRecv, peer_rank, tag, where, at_once};
  return travels_itself(tensor) ? post(envelope, tensor, {})
                                : post(envelope, staging_for(tensor, tensor.sizes()), tensor);
}

Request PointToPoint::post(const Envelope& envelope, at::Tensor moved, const at::Tensor& user_tensor) {
  Message message;
  message.direction = envelope.direction;
  message.peer = envelope.world_rank;
  message.group = group_.id;
  message.tag = envelope.tag;
  message.where = envelope.where;
  message.tensor = std::move(moved);
  auto state = std::make_unique<Request::State>(Request::State{endpoint_, {}, user_tensor});
  state->posted = endpoint_->post(std::move(message), envelope.at_once);
  return Request(std::move(state));
}

void PointToPoint::agree(const std::string& operation, const at::Tensor& tensor, SourceLine where) {
  require_defined(tensor, rank(), operation, where);
  if (!endpoint_->careful()) return;
  // Only its contract is sent: one value, repeated, has it.
  const at::Tensor moved =
      tensor.is_cpu() || tensor.is_meta() ? tensor : at::zeros({}, tensor.scalar_type()).expand(tensor.sizes());
  comm::agree(endpoint_->transport(), group_, operation, moved, where);
}

int PointToPoint::peer(const char* what, int rank, SourceLine where) const {
  if (rank < 0 || rank >= size()) {
    throw ContractError(fmt::format("{}: rank {} cannot {} rank {}: expected 0 to {}", where.text(), this->rank(), what,
                                    rank, size() - 1));
  }
  if (rank == this->rank()) {
    throw ContractError(fmt::format("{}: rank {} cannot {} itself; hint: copy the tensor", where.text(), rank, what));
  }
  return group_.world_rank(rank);
}

}  // namespace lab::comm
