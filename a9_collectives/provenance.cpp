#include "a9_collectives/provenance.h"

#include <fmt/format.h>

#include "common/report/errors.h"
#include "common/tensor/mixing.h"

// A value has four fields, each with room for the sum over 16 ranks, so that sums never carry from one into the next:
//   bit  0  1 << rank     the sum over different ranks is their set
//   bit 20  1             how many were added; as many as the set has ranks only if no rank came twice
//   bit 25  the element   the sum divided by how many
//   bit 47  a check       a number like a random one of 10 bits, drawn from rank and element; fits only if it is those
//                         that were added
namespace lab::a9 {
namespace {

constexpr int kCountBit = 20;
constexpr int kElementBit = 25;
constexpr int kCheckBit = 47;
constexpr int kEndBit = 61;

std::uint64_t check_of(std::uint64_t rank, std::uint64_t element) {
  return splitmix64(element * kMostProvenanceRanks + rank) >> 54;
}

std::uint64_t field(std::uint64_t value, int bit, int next_bit) {
  return (value >> bit) & ((std::uint64_t{1} << (next_bit - bit)) - 1);
}

/// Two fields of the sum of one element over a set of ranks.
struct Sum {
  std::uint64_t count = 0;
  std::uint64_t check = 0;
};
Sum sum_over(std::uint64_t ranks, std::uint64_t element) {
  Sum sum;
  for (std::uint64_t rank = 0; ranks >> rank != 0; ++rank) {
    if (((ranks >> rank) & 1) == 0) continue;
    ++sum.count;
    sum.check += check_of(rank, element);
  }
  return sum;
}

/// One element.
Piece piece_of(std::uint64_t value) {
  const Piece unknown{0, 0, 1};
  const std::uint64_t ranks = field(value, 0, kCountBit);
  const std::uint64_t count = field(value, kCountBit, kElementBit);
  const std::uint64_t elements = field(value, kElementBit, kCheckBit);
  if (count == 0 || elements % count != 0 || (ranks >> kMostProvenanceRanks) != 0 || (value >> kEndBit) != 0)
    return unknown;
  const std::uint64_t element = elements / count;
  const Sum expected = sum_over(ranks, element);
  if (count != expected.count || field(value, kCheckBit, kEndBit) != expected.check) return unknown;
  return {static_cast<RankSet>(ranks), static_cast<std::int64_t>(element), static_cast<std::int64_t>(element) + 1};
}

}  // namespace

at::Tensor provenance(int rank, std::int64_t numel) {
  if (rank < 0 || rank >= kMostProvenanceRanks || numel < 0 || numel > kMostProvenanceElements) {
    throw ContractError(fmt::format("provenance: expected a rank below {} and at most {} elements, got rank {} and {}",
                                    kMostProvenanceRanks, kMostProvenanceElements, rank, numel));
  }
  at::Tensor tensor = at::empty({numel}, at::kLong);
  auto* values = tensor.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < numel; ++i) {
    const auto element = static_cast<std::uint64_t>(i);
    const std::uint64_t value = (std::uint64_t{1} << rank) | (std::uint64_t{1} << kCountBit) |
                                (element << kElementBit) |
                                (check_of(static_cast<std::uint64_t>(rank), element) << kCheckBit);
    values[i] = static_cast<std::int64_t>(value);
  }
  return tensor;
}

std::vector<Piece> pieces_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  if (tensor.scalar_type() != at::kLong) return {{0, 0, tensor.numel()}};
  const at::Tensor row = tensor.detach().contiguous();
  const auto* values = row.data_ptr<std::int64_t>();
  std::vector<Piece> pieces;
  for (std::int64_t i = 0; i < row.numel(); ++i) {
    const Piece next = piece_of(static_cast<std::uint64_t>(values[i]));
    const bool goes_on =
        !pieces.empty() && pieces.back().ranks == next.ranks && (!next.known() || pieces.back().end == next.begin);
    if (goes_on) {
      ++pieces.back().end;
    } else {
      pieces.push_back(next);
    }
  }
  return pieces;
}

}  // namespace lab::a9
