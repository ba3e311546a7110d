#include "common/comm/message_collectives.h"

#include "common/tensor/partition.h"

namespace lab {
namespace {

/// The messages of one step of one collective: all posted at once, then waited for.
class Step {
 public:
  Step(Transport& transport, const Group& group, const char* operation)
      : transport_(transport), group_(group), operation_(operation) {}

  void send(const at::Tensor& tensor, int member) {
    pending_.push_back(transport_.start_send(message(Direction::kSend, tensor, member)));
  }
  void recv(const at::Tensor& tensor, int member) {
    pending_.push_back(transport_.start_recv(message(Direction::kRecv, tensor, member)));
  }

  void wait() {
    for (const auto& pending : pending_) transport_.wait(*pending);
    pending_.clear();
  }

  ~Step() {
    for (auto& pending : pending_) transport_.abandon(std::move(pending));
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  Message message(Direction direction, const at::Tensor& tensor, int member) const {
    Message message;
    message.direction = direction;
    message.peer = group_.world_rank(member);
    message.group = collective_channel(group_);
    message.operation = operation_;
    message.where = SourceLine::current();
    message.tensor = tensor;
    return message;
  }

  Transport& transport_;
  const Group& group_;
  const char* operation_;
  std::vector<std::shared_ptr<Pending>> pending_;
};

/// Member i of the group sends chunks[i][j] to member j and adds up what it gets in rank order.
at::Tensor pairwise_sum(Step& step, const std::vector<at::Tensor>& chunks, const Group& group) {
  const int self = group.rank;
  std::vector<at::Tensor> parts(chunks.size());
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
  for (std::size_t member = 1; member < parts.size(); ++member) sum.add_(parts[member]);
  return sum;
}

/// parts[r] is member r's own part; afterwards every member holds them all.
void pairwise_gather(Step& step, const std::vector<at::Tensor>& parts, const Group& group) {
  const int self = group.rank;
  for (int distance = 1; distance < group.size(); ++distance) {
    const int dst = (self + distance) % group.size();
    const int src = (self - distance + group.size()) % group.size();
    step.send(parts[static_cast<std::size_t>(self)], dst);
    step.recv(parts[static_cast<std::size_t>(src)], src);
  }
  step.wait();
}

}  // namespace

std::uint32_t collective_channel(const Group& group) {
  return group.id | 0x80000000U;
}

void MessageCollectives::broadcast(const at::Tensor& tensor, int src_rank, const Group& group) {
  Step step(transport_, group, "broadcast");
  // Counted from the source, rank v receives from v without its lowest set bit and then serves the bits below it.
  const int size = group.size();
  const int virtual_rank = (group.rank - src_rank + size) % size;
  int bit = 1;
  while (bit < size && (virtual_rank & bit) == 0) bit *= 2;
  if (virtual_rank != 0) {
    step.recv(tensor, (virtual_rank - bit + src_rank) % size);
    step.wait();
  }
  for (bit /= 2; bit >= 1; bit /= 2) {
    if (virtual_rank + bit >= size) continue;
    step.send(tensor, (virtual_rank + bit + src_rank) % size);
    step.wait();
  }
}

void MessageCollectives::all_reduce(const at::Tensor& tensor, const Group& group) {
  Step step(transport_, group, "all_reduce");
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
  Step step(transport_, group, "all_gather");
  const std::vector<at::Tensor> parts = out.unbind(0);
  parts[static_cast<std::size_t>(group.rank)].copy_(in);
  pairwise_gather(step, parts, group);
}

void MessageCollectives::reduce_scatter(const at::Tensor& in, const at::Tensor& out, const Group& group) {
  Step step(transport_, group, "reduce_scatter");
  out.copy_(pairwise_sum(step, in.unbind(0), group));
}

void MessageCollectives::barrier(const Group& group) {
  Step step(transport_, group, "barrier");
  const at::Tensor nothing = at::empty({0}, at::kByte);
  const int size = group.size();
  for (int distance = 1; distance < size; distance *= 2) {
    step.send(nothing, (group.rank + distance) % size);
    step.recv(nothing, (group.rank - distance + size) % size);
    step.wait();
  }
}

}  // namespace lab
