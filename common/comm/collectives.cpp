#include "common/comm/collectives.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "common/comm/batch_isend_irecv.h"
#include "common/comm/messages/endpoint.h"
#include "common/tensor/describe.h"
#include "common/tensor/partition.h"
#include "common/tensor/work_meter.h"

namespace lab::comm {
namespace {

/// Copies the result back to the caller's tensor if on_wire() had to copy it.
at::Tensor back_in(const at::Tensor& tensor, const at::Tensor& moved) {
  if (moved.data_ptr() == tensor.data_ptr()) return tensor;
  const c10::NoGradGuard no_grad;
  tensor.copy_(moved);
  return tensor;
}

}  // namespace

Collectives::Collectives(std::shared_ptr<Endpoint> endpoint, std::shared_ptr<CollectiveBackend> backend, Group group)
    : endpoint_(std::move(endpoint)), backend_(std::move(backend)), group_(std::move(group)) {}

at::Tensor Collectives::broadcast(const at::Tensor& tensor, int src_rank, SourceLine where) {
  if (src_rank < 0 || src_rank >= size()) {
    throw ContractError(
        fmt::format("{}: broadcast from rank {}: expected 0 to {}", where.text(), src_rank, size() - 1));
  }
  require_defined(tensor, rank(), "broadcast", where);
  const at::Tensor moved = on_wire(tensor);
  const Call call = agree("broadcast", moved, where);
  if (size() > 1) backend_->broadcast(moved, src_rank, group_);
  account(call, static_cast<std::int64_t>(moved.nbytes()), rank() == src_rank);
  return back_in(tensor, moved);
}

at::Tensor Collectives::all_reduce(const at::Tensor& tensor, SourceLine where) {
  require_defined(tensor, rank(), "all_reduce", where);
  const at::Tensor moved = on_wire(tensor);
  const Call call = agree("all_reduce", moved, where);
  {
    const UncountedWork part_of_the_message;
    if (size() > 1) backend_->all_reduce(moved, group_);
  }
  account(call, static_cast<std::int64_t>(moved.nbytes()));
  return back_in(tensor, moved);
}

std::vector<at::Tensor> Collectives::all_gather(const at::Tensor& tensor, SourceLine where) {
  require_defined(tensor, rank(), "all_gather", where);
  const at::Tensor moved = on_wire(tensor);
  const Call call = agree("all_gather", moved, where);
  std::vector<std::int64_t> shape = moved.sizes().vec();
  shape.insert(shape.begin(), size());
  const at::Tensor out = at::empty(shape, moved.options());
  if (size() > 1) {
    backend_->all_gather(moved, out, group_);
  } else {
    out.copy_(moved.unsqueeze(0));
  }
  account(call, static_cast<std::int64_t>(out.nbytes()));
  return out.to(tensor.device()).unbind(0);
}

at::Tensor Collectives::reduce_scatter(const at::Tensor& tensor, SourceLine where) {
  require_defined(tensor, rank(), "reduce_scatter", where);
  if (tensor.dim() == 0 || tensor.size(0) % size() != 0) {
    throw ContractError(fmt::format("{}: reduce_scatter over {} ranks: expected dim 0 to divide by {}, got {}",
                                    where.text(), size(), size(), describe(tensor)));
  }
  const at::Tensor moved = on_wire(tensor);
  const Call call = agree("reduce_scatter", moved, where);
  std::vector<std::int64_t> shape = moved.sizes().vec();
  shape[0] /= size();
  const at::Tensor out = at::empty(shape, moved.options());
  if (size() > 1) {
    std::vector<std::int64_t> chunked = shape;
    chunked.insert(chunked.begin(), size());
    const UncountedWork part_of_the_message;
    backend_->reduce_scatter(moved.view(chunked), out, group_);
  } else {
    out.copy_(moved);
  }
  account(call, static_cast<std::int64_t>(moved.nbytes()));
  return out.to(tensor.device());
}

std::vector<at::Tensor> Collectives::all_to_all(const std::vector<at::Tensor>& parts,
                                                const std::vector<std::vector<std::int64_t>>& shapes,
                                                SourceLine where) {
  if (parts.size() != static_cast<std::size_t>(size()) || shapes.size() != parts.size()) {
    throw ContractError(fmt::format(
        "{}: all_to_all over {} ranks: expected a part for and a shape from each, got {} parts and {} shapes",
        where.text(), size(), parts.size(), shapes.size()));
  }
  for (std::size_t dst = 0; dst < parts.size(); ++dst)
    require_defined(parts[dst], rank(), fmt::format("all_to_all its part for rank {}", dst), where);
  const auto self = static_cast<std::size_t>(rank());
  const double start_seconds = endpoint_->transport().now();
  std::vector<at::Tensor> sent, received;
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  for (std::size_t member = 0; member < parts.size(); ++member) {
    sent.push_back(on_wire(parts[member]));
    received.push_back(member == self ? parts[self].clone()
                                      : at::empty(shapes[member], on_wire(parts[self]).options()));
    if (member == self) continue;
    bytes_sent += parts[member].nbytes();
    bytes_received += received[member].nbytes();
  }
  if (size() > 1) backend_->all_to_all(sent, received, group_, where);
  for (at::Tensor& part : received) part = part.to(parts[self].device());
  endpoint_->record_collective(exchange_cost(size(), bytes_sent, bytes_received), group_,
                               static_cast<std::int64_t>(bytes_sent), where, start_seconds);
  return received;
}

void Collectives::barrier(SourceLine where) {
  const Call call = agree("barrier", at::empty({0}, at::kByte), where);
  if (size() > 1) backend_->barrier(group_);
  account(call, 0);
}

Collectives::Call Collectives::agree(const char* operation, const at::Tensor& tensor, SourceLine where) {
  // Each rank compares with the next one: if all neighbours on a ring are equal, all ranks are.
  const Call call{operation, where, endpoint_->transport().now()};
  if (size() == 1) return call;
  BatchIsendIrecv step(endpoint_->transport(), group_, operation, where);
  step.recv_contract(tensor, (rank() + size() - 1) % size());
  step.send_contract(tensor, (rank() + 1) % size());
  step.wait();
  return call;
}

void Collectives::account(const Call& call, std::int64_t bytes, bool is_source) {
  endpoint_->record_collective(nominal_cost(call.operation, size(), bytes, is_source), group_, bytes, call.where,
                               call.start_seconds);
}

}  // namespace lab::comm
