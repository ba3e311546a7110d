#include "a9_collectives/chunks.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/errors.h"

namespace lab::a9 {

Chunks::Chunks(at::Tensor row, std::int64_t num_chunks) : row_(std::move(row)), num_chunks_(num_chunks) {
  if (row_.dim() != 1 || num_chunks < 1)
    throw ContractError(fmt::format("a row of one dimension in at least one chunk: got {} dimensions and {} chunks",
                                    row_.dim(), num_chunks));
}

std::int64_t Chunks::offset(std::int64_t index) const {
  const std::int64_t longer = row_.numel() % num_chunks_;
  return index * (row_.numel() / num_chunks_) + std::min(index, longer);
}

at::Tensor Chunks::range(std::int64_t begin, std::int64_t end) const {
  return row_.narrow(0, offset(begin), offset(end) - offset(begin));
}

Row::Row(const at::Tensor& tensor) : tensor_(tensor), elements_(tensor.detach().contiguous().view({-1})) {}

at::Tensor Row::give_back() const {
  if (!tensor_.is_contiguous()) tensor_.detach().copy_(elements_.view(tensor_.sizes()));
  return tensor_;
}

void sendrecv(PointToPoint& p2p, const at::Tensor& out, int dst_rank, const at::Tensor& in, int src_rank,
              SourceLine where) {
  Request received = p2p.irecv(in, src_rank, 0, where);
  Request sent = p2p.isend(out, dst_rank, 0, where);
  received.wait();
  sent.wait();
}

int floor_power_of_two(int size) {
  if (size < 1) throw ContractError(fmt::format("expected a size of at least 1, got {}", size));
  int power = 1;
  while (power <= size / 2) power *= 2;
  return power;
}

int floor_lg(int size) {
  return size < 2 ? 0 : 1 + floor_lg(size / 2);
}

int ceil_lg(int size) {
  return size < 2 ? 0 : 1 + floor_lg(size - 1);
}

}  // namespace lab::a9
