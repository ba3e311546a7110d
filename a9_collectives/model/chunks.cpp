#include "a9_collectives/chunks.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/as_strided_native.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/api/errors.h"
#include "common/api/shapes.h"

namespace lab::a9 {

at::Tensor piece(const at::Tensor& whole, std::int64_t dim, std::int64_t begin, std::int64_t length) {
  const std::int64_t place = dim < 0 ? dim + whole.dim() : dim;
  const bool is_inside = place >= 0 && place < whole.dim() && begin >= 0 && length >= 0 && begin <= whole.size(place) &&
                         length <= whole.size(place) - begin;
  if (!is_inside || c10::GradMode::is_enabled()) return whole.narrow(dim, begin, length);
  c10::SmallVector<std::int64_t, 5> shape(whole.sizes().begin(), whole.sizes().end());
  shape[static_cast<std::size_t>(place)] = length;
  return at::native::as_strided_tensorimpl(whole, shape, whole.strides(),
                                           whole.storage_offset() + begin * whole.stride(place));
}

void copy_into(const at::Tensor& from, const at::Tensor& to) {
  if (from.sizes() != to.sizes() || from.scalar_type() != to.scalar_type())
    throw ContractError(fmt::format("a copy of {} to {}: expected the same", describe(from), describe(to)));
  const auto is_plain = [](const at::Tensor& tensor) {
    return tensor.is_cpu() && tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg();
  };
  if (c10::GradMode::is_enabled() || !is_plain(from) || !is_plain(to)) {
    to.copy_(from);
  } else if (from.nbytes() > 0) {
    std::memmove(to.data_ptr(), from.data_ptr(), from.nbytes());
  }
}

at::Tensor uninitialized(at::IntArrayRef shape, const at::Tensor& like) {
  return like.is_cpu() ? at::detail::empty_cpu(shape, like.scalar_type()) : at::empty(shape, like.options());
}

std::vector<at::Tensor> pieces(const at::Tensor& tensor, std::int64_t dim, std::int64_t count) {
  const std::int64_t size = tensor.size(dim);
  if (count < 1 || size % count != 0)
    throw ContractError(
        fmt::format("pieces: expected dimension {} of {} to divide by {}, got {}; hint: an all-to-all cuts along "
                    "scatter_dim and joins along gather_dim",
                    dim, shape_text(tensor.sizes()), count, size));
  std::vector<at::Tensor> all;
  all.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) all.push_back(piece(tensor, dim, i * (size / count), size / count));
  return all;
}

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
  return piece(row_, 0, offset(begin), offset(end) - offset(begin));
}

Row::Row(const at::Tensor& tensor) : tensor_(tensor), elements_(detached(tensor).contiguous()) {
  if (elements_.dim() != 1) elements_ = elements_.view({-1});
}

at::Tensor Row::give_back() const {
  if (!tensor_.is_contiguous()) tensor_.detach().copy_(shaped());
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
