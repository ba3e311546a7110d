#include "common/api/point_to_point.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <exception>

#include "common/comm/messages/endpoint.h"
#include "common/comm/messages/message_collectives.h"

namespace lab::comm {
namespace {

/// Whether its own bytes travel, and not those of what on_wire() makes of it.
bool is_on_wire(const at::Tensor& tensor) {
  const bool has_plain_bytes = !tensor.is_conj() && !tensor.is_neg();
  return (tensor.device().is_cpu() || tensor.is_meta()) && tensor.is_contiguous() && has_plain_bytes;
}

}  // namespace

Request::Request(std::shared_ptr<Endpoint> endpoint, std::shared_ptr<Pending> pending)
    : endpoint_(std::move(endpoint)), pending_(std::move(pending)) {}
Request::Request(Request&&) noexcept = default;

Request& Request::operator=(Request&& other) noexcept {
  if (pending_) endpoint_->abandon(std::move(pending_));
  endpoint_ = std::move(other.endpoint_);
  pending_ = std::move(other.pending_);
  return *this;
}

Request::~Request() {
  if (pending_) endpoint_->abandon(std::move(pending_));
}

at::Tensor Request::wait() {
  if (!pending_) throw ContractError("wait() was called twice on one Request; hint: wait for each Request once");
  const std::shared_ptr<Pending> pending = std::move(pending_);
  try {
    endpoint_->finish(*pending);
  } catch (...) {
    endpoint_->forget(pending);
    throw;
  }
  const at::Tensor& user_tensor = pending->user_tensor;
  if (!user_tensor.defined()) return std::move(pending->message.tensor);
  if (pending->message.direction == Direction::kRecv) {
    const c10::NoGradGuard no_grad;
    user_tensor.copy_(pending->message.tensor);
  }
  return user_tensor;
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
  post(Direction::kSend, tensor, dst_rank, tag, where, true).wait();
}

void PointToPoint::recv(const at::Tensor& tensor, int src_rank, int tag, SourceLine where) {
  post(Direction::kRecv, tensor, src_rank, tag, where, true).wait();
}

Request PointToPoint::isend(const at::Tensor& tensor, int dst_rank, int tag, SourceLine where) {
  return post(Direction::kSend, tensor, dst_rank, tag, where, false);
}

Request PointToPoint::irecv(const at::Tensor& tensor, int src_rank, int tag, SourceLine where) {
  return post(Direction::kRecv, tensor, src_rank, tag, where, false);
}

Request PointToPoint::post(Direction direction, const at::Tensor& tensor, int peer, int tag, SourceLine where,
                           bool at_once) {
  const bool sends = direction == Direction::kSend;
  const char* const what = sends ? "send to" : "receive from";
  if (peer < 0 || peer >= size()) {
    throw ContractError(
        fmt::format("{}: rank {} cannot {} rank {}: expected 0 to {}", where.text(), rank(), what, peer, size() - 1));
  }
  if (peer == rank()) {
    throw ContractError(fmt::format("{}: rank {} cannot {} itself; hint: copy the tensor", where.text(), peer, what));
  }
  if (!tensor.defined()) require_defined(tensor, rank(), fmt::format("{} rank {}", what, peer), where);

  Message message;
  message.direction = direction;
  message.peer = group_.world_rank(peer);
  message.group = group_.id;
  message.tag = tag;
  message.where = where;
  const bool travels_itself = is_on_wire(tensor);
  message.tensor = travels_itself ? tensor : sends ? on_wire(tensor) : staging_for(tensor, tensor.sizes());
  std::shared_ptr<Pending> pending = endpoint_->post(std::move(message), at_once);
  if (!travels_itself) pending->user_tensor = tensor;
  return Request(endpoint_, std::move(pending));
}

void PointToPoint::agree(std::string_view operation, const at::Tensor& tensor,
                         std::initializer_list<std::int64_t> arguments, SourceLine where) {
  if (!endpoint_->careful() && tensor.defined()) return;
  std::string text(operation);
  for (const std::int64_t argument : arguments) {
    const std::size_t place = text.find("{}");
    if (place != std::string::npos) text.replace(place, 2, std::to_string(argument));
  }
  require_defined(tensor, rank(), text, where);
  // Only its contract is sent: one value, repeated, has it.
  const at::Tensor moved =
      tensor.is_cpu() || tensor.is_meta() ? tensor : at::zeros({}, tensor.scalar_type()).expand(tensor.sizes());
  const std::int64_t own = endpoint_->begin_collective(where).model_began;
  endpoint_->record_agreement(comm::agree(endpoint_->transport(), group_, text, moved, where, own));
}

}  // namespace lab::comm
