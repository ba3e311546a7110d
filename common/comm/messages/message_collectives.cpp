#include "common/comm/messages/message_collectives.h"

#include <algorithm>

#include "common/api/partition.h"
#include "common/comm/batch_isend_irecv.h"

namespace lab::comm {
namespace {

/// Member i of the group sends chunks[i][j] to member j and sums what it receives in rank order.
at::Tensor pairwise_sum(BatchIsendIrecv& step, const std::vector<at::Tensor>& chunks, const Group& group) {
  const int self = group.rank;
  std::vector<at::Tensor> parts(chunks.size());
  // In each turn a member sends the chunk that another member sums, and receives one of those that it sums itself.
  for (int distance = 1; distance < group.size(); ++distance) {
    const int dst = (self + distance) % group.size();
    const int src = (self - distance + group.size()) % group.size();
    parts[static_cast<std::size_t>(src)] = at::empty_like(chunks[static_cast<std::size_t>(self)]);
    step.send(chunks[static_cast<std::size_t>(dst)], dst);
    step.recv(parts[static_cast<std::size_t>(src)], src);
  }
  step.wait();
  parts[static_cast<std::size_t>(self)] = chunks[static_cast<std::size_t>(self)];
  at::Tensor sum = parts[0].clone();
  // The parts are added in rank order, whatever the order in which they arrived.
  for (std::size_t member = 1; member < parts.size(); ++member) sum.add_(parts[member]);
  return sum;
}

/// parts[r] is member r's own part; afterwards every member has all of them.
void pairwise_gather(BatchIsendIrecv& step, const std::vector<at::Tensor>& parts, const Group& group) {
  const int self = group.rank;
  // Each member sends its part to all others, its right neighbour first, and waits for all of theirs at once.
  for (int distance = 1; distance < group.size(); ++distance) {
    const int dst = (self + distance) % group.size();
    const int src = (self - distance + group.size()) % group.size();
    step.send(parts[static_cast<std::size_t>(self)], dst);
    step.recv(parts[static_cast<std::size_t>(src)], src);
  }
  step.wait();
}

}  // namespace

void MessageCollectives::broadcast(const at::Tensor& tensor, int src_rank, const Group& group) {
  BatchIsendIrecv step(transport_, group, "broadcast", SourceLine::current());
  // Relative to the source, rank v receives from v without its lowest set bit and then sends for the bits below it.
  const int size = group.size();
  const int virtual_rank = (group.rank - src_rank + size) % size;
  int bit = 1;
  while (bit < size && (virtual_rank & bit) == 0) bit *= 2;
  if (virtual_rank != 0) {
    step.recv(tensor, (virtual_rank - bit + src_rank) % size);
    step.wait();
  }
  // A member that has the tensor serves the farthest first, so that the number of members that have it doubles.
  for (bit /= 2; bit >= 1; bit /= 2) {
    if (virtual_rank + bit >= size) continue;
    step.send(tensor, (virtual_rank + bit + src_rank) % size);
    step.wait();
  }
}

void MessageCollectives::all_reduce(const at::Tensor& tensor, const Group& group) {
  BatchIsendIrecv step(transport_, group, "all_reduce", SourceLine::current());
  const at::Tensor flat = tensor.view({-1});
  std::vector<at::Tensor> chunks;
  for (int member = 0; member < group.size(); ++member) {
    const Slice slice = uneven_slice(flat.numel(), group.size(), member);
    chunks.push_back(flat.narrow(0, slice.begin, slice.size));
  }
  chunks[static_cast<std::size_t>(group.rank)].copy_(pairwise_sum(step, chunks, group));
  pairwise_gather(step, chunks, group);
}

void MessageCollectives::all_gather(const at::Tensor& in, const at::Tensor& out, const Group& group) {
  BatchIsendIrecv step(transport_, group, "all_gather", SourceLine::current());
  const std::vector<at::Tensor> parts = out.unbind(0);
  parts[static_cast<std::size_t>(group.rank)].copy_(in);
  pairwise_gather(step, parts, group);
}

void MessageCollectives::reduce_scatter(const at::Tensor& in, const at::Tensor& out, const Group& group) {
  BatchIsendIrecv step(transport_, group, "reduce_scatter", SourceLine::current());
  out.copy_(pairwise_sum(step, in.unbind(0), group));
}

void MessageCollectives::barrier(const Group& group) {
  BatchIsendIrecv step(transport_, group, "barrier", SourceLine::current());
  const at::Tensor nothing = at::empty({0}, at::kByte);
  const int size = group.size();
  // After the step with distance d, a member has heard, directly or not, from the 2d - 1 members before it.
  for (int distance = 1; distance < size; distance *= 2) {
    step.send(nothing, (group.rank + distance) % size);
    step.recv(nothing, (group.rank - distance + size) % size);
    step.wait();
  }
}

void MessageCollectives::all_to_all(const std::vector<at::Tensor>& parts, const std::vector<at::Tensor>& received,
                                    const Group& group, SourceLine where) {
  BatchIsendIrecv step(transport_, group, "all_to_all", where);
  const int size = group.size();
  // All parts are posted before the first is waited for.
  for (int distance = 1; distance < size; ++distance) {
    const int dst = (group.rank + distance) % size;
    const int src = (group.rank - distance + size) % size;
    step.recv(received[static_cast<std::size_t>(src)], src);
    step.send(parts[static_cast<std::size_t>(dst)], dst);
  }
  step.wait();
}

std::int64_t agree(Transport& transport, const Group& group, const std::string& operation, const at::Tensor& tensor,
                   SourceLine where, std::int64_t model_time) {
  // Dissemination: a rank that completes the last round has heard, indirectly, from all ranks; one that sees a
  // difference stops sending.
  std::int64_t latest = model_time;
  for (int distance = 1; distance < group.size(); distance *= 2) {
    BatchIsendIrecv step(transport, group, operation, where);
    step.send_contract(tensor, (group.rank + distance) % group.size(), latest);
    step.recv_contract(tensor, (group.rank - distance + group.size()) % group.size());
    step.wait();
    latest = std::max(latest, step.latest_model_time());
  }
  return latest;
}

}  // namespace lab::comm
