#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "common/api/point_to_point.h"

// What every algorithm here needs in addition to send and recv.
namespace lab::a9 {

/// whole.narrow(dim, begin, length), for messages. Where no gradient is recorded, it takes a third of the instructions:
/// narrow is three operators of LibTorch. Errors: as narrow's.
at::Tensor piece(const at::Tensor& whole, std::int64_t dim, std::int64_t begin, std::int64_t length);

/// tensor.detach(); the tensor itself where it needs no gradient, which takes no operator of LibTorch.
inline at::Tensor detached(const at::Tensor& tensor) {
  return tensor.requires_grad() ? tensor.detach() : tensor;
}

/// to.copy_(from), of the same shape and dtype. Where no gradient is recorded and both are contiguous, without an operator
/// of LibTorch, which is 3,000 instructions whatever the size.
/// Errors: ContractError if shape or dtype differ.
void copy_into(const at::Tensor& from, const at::Tensor& to);

/// A new contiguous tensor of like's dtype and device, to receive into. On the CPU it takes a third of the instructions
/// of at::empty_like().
at::Tensor uninitialized(at::IntArrayRef shape, const at::Tensor& like);

/// A tensor cut along `dim` into `count` pieces of equal shape, which share its memory.
/// Errors: ContractError if count does not divide that dimension.
std::vector<at::Tensor> pieces(const at::Tensor& tensor, std::int64_t dim, std::int64_t count);

/// A tensor viewed as one row of elements and cut into `num_chunks` contiguous chunks, as even as possible: the first
/// numel % num_chunks chunks hold one element more. Chunks share memory with the row.
class Chunks {
 public:
  /// `row` is contiguous and has one dimension.
  Chunks(at::Tensor row, std::int64_t num_chunks);

  std::int64_t count() const { return num_chunks_; }
  at::Tensor chunk(std::int64_t index) const { return range(index, index + 1); }
  /// Chunks [begin, end) as one tensor.
  at::Tensor range(std::int64_t begin, std::int64_t end) const;

 private:
  std::int64_t offset(std::int64_t index) const;

  at::Tensor row_;
  std::int64_t num_chunks_;
};

/// The elements of a tensor as one contiguous row, to work on and then give back: the tensor's own memory if it is
/// contiguous, otherwise a copy.
class Row {
 public:
  explicit Row(const at::Tensor& tensor);
  const at::Tensor& elements() const { return elements_; }
  /// The same in the tensor's shape.
  at::Tensor shaped() const { return elements_.dim() == tensor_.dim() ? elements_ : elements_.view(tensor_.sizes()); }
  /// Makes the tensor equal to the row, and returns it.
  at::Tensor give_back() const;

 private:
  at::Tensor tensor_;
  at::Tensor elements_;
};

/// Sends `out` to dst_rank while receiving `in` from src_rank: both are posted before either is waited for, so no
/// order of ranks can deadlock.
void sendrecv(PointToPoint& p2p, const at::Tensor& out, int dst_rank, const at::Tensor& in, int src_rank,
              SourceLine where = SourceLine::current());

/// The largest power of two that is at most `size`. Errors: ContractError for size < 1.
int floor_power_of_two(int size);

/// The base 2 logarithm of a world size, rounded down and up.
/// Example   5: 2 and 3
int floor_lg(int size);
int ceil_lg(int size);

}  // namespace lab::a9
