#include "common/api/collectives.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "common/api/partition.h"
#include "common/api/shapes.h"
#include "common/comm/batch_isend_irecv.h"
#include "common/comm/messages/endpoint.h"
#include "common/comm/messages/message_collectives.h"
#include "common/tensor/meters/work_meter.h"

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
  const auto begun = begin("broadcast", moved, where);
  if (size() > 1) backend_->broadcast(moved, src_rank, group_);
  const auto bytes = static_cast<std::int64_t>(moved.nbytes());
  account(nominal_cost("broadcast", size(), bytes, rank() == src_rank), bytes, begun);
  return back_in(tensor, moved);
}

at::Tensor Collectives::all_reduce(const at::Tensor& tensor, SourceLine where) {
  require_defined(tensor, rank(), "all_reduce", where);
  const at::Tensor moved = on_wire(tensor);
  const auto begun = begin("all_reduce", moved, where);
  {
    const UncountedWork part_of_the_message;
    if (size() > 1) backend_->all_reduce(moved, group_);
  }
  const auto bytes = static_cast<std::int64_t>(moved.nbytes());
  account(nominal_cost("all_reduce", size(), bytes), bytes, begun);
  return back_in(tensor, moved);
}

std::vector<at::Tensor> Collectives::all_gather(const at::Tensor& tensor, SourceLine where) {
  require_defined(tensor, rank(), "all_gather", where);
  const at::Tensor moved = on_wire(tensor);
  const auto begun = begin("all_gather", moved, where);
  std::vector<std::int64_t> shape = moved.sizes().vec();
  shape.insert(shape.begin(), size());
  const at::Tensor out = staging_for(tensor, shape);
  if (size() > 1) {
    backend_->all_gather(moved, out, group_);
  } else {
    out.copy_(moved.unsqueeze(0));
  }
  const auto bytes = static_cast<std::int64_t>(out.nbytes());
  account(nominal_cost("all_gather", size(), bytes), bytes, begun);
  return out.to(tensor.device()).unbind(0);
}

at::Tensor Collectives::reduce_scatter(const at::Tensor& tensor, SourceLine where) {
  require_defined(tensor, rank(), "reduce_scatter", where);
  if (tensor.dim() == 0 || tensor.size(0) % size() != 0) {
    throw ContractError(fmt::format("{}: reduce_scatter over {} ranks: expected dim 0 to divide by {}, got {}",
                                    where.text(), size(), size(), describe(tensor)));
  }
  const at::Tensor moved = on_wire(tensor);
  const auto begun = begin("reduce_scatter", moved, where);
  std::vector<std::int64_t> shape = moved.sizes().vec();
  shape[0] /= size();
  const at::Tensor out = staging_for(tensor, shape);
  if (size() > 1) {
    std::vector<std::int64_t> chunked = shape;
    chunked.insert(chunked.begin(), size());
    const UncountedWork part_of_the_message;
    backend_->reduce_scatter(moved.view(chunked), out, group_);
  } else {
    out.copy_(moved);
  }
  const auto bytes = static_cast<std::int64_t>(moved.nbytes());
  account(nominal_cost("reduce_scatter", size(), bytes), bytes, begun);
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
  const auto begun = begin_exchange(parts[self], where);
  std::vector<at::Tensor> sent, received;
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  for (std::size_t member = 0; member < parts.size(); ++member) {
    sent.push_back(on_wire(parts[member]));
    received.push_back(member == self ? parts[self].clone() : staging_for(parts[self], shapes[member]));
    if (member == self) continue;
    bytes_sent += parts[member].nbytes();
    bytes_received += received[member].nbytes();
  }
  if (size() > 1) backend_->all_to_all(sent, received, group_, where);
  for (at::Tensor& part : received) part = part.to(parts[self].device());
  account(exchange_cost(size(), bytes_sent, bytes_received), static_cast<std::int64_t>(bytes_sent), begun);
  return received;
}

void Collectives::barrier(SourceLine where) {
  const auto begun = begin("barrier", at::empty({0}, at::kByte), where);
  if (size() > 1) backend_->barrier(group_);
  account(nominal_cost("barrier", size(), 0), 0, begun);
}

BegunCollective Collectives::begin(const char* operation, const at::Tensor& tensor, SourceLine where) {
  if (endpoint_->careful()) return begin_carefully(operation, tensor, where);
  const BegunCollective begun = endpoint_->begin_collective(where);
  if (size() == 1) return begun;
  // Each rank compares with the next one: if all neighbours on a ring are equal, all ranks are.
  BatchIsendIrecv step(endpoint_->transport(), group_, operation, where);
  step.recv_contract(tensor, (rank() + size() - 1) % size());
  step.send_contract(tensor, (rank() + 1) % size());
  step.wait();
  return begun;
}

BegunCollective Collectives::begin_carefully(const char* operation, const at::Tensor& tensor, SourceLine where) {
  BegunCollective begun = endpoint_->begin_collective(where);
  begun.model_began = comm::agree(endpoint_->transport(), group_, operation, tensor, where, begun.model_began);
  return begun;
}

BegunCollective Collectives::begin_exchange(const at::Tensor& part, SourceLine where) {
  if (!endpoint_->careful()) return endpoint_->begin_collective(where);
  return begin_carefully("all_to_all", on_wire(at::empty({0}, part.options())), where);
}

void Collectives::account(const LedgerEntry& cost, std::int64_t bytes, BegunCollective begun) {
  if (size() > 1) begun.model_began = backend_->model_began().value_or(begun.model_began);
  endpoint_->record_collective(cost, group_, bytes, begun);
}

}  // namespace lab::comm
