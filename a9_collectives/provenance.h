#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

// Data that says where it came from, so that a picture's labels are read off what really travelled.
namespace lab::a9 {

/// A set of ranks: bit r is rank r.
using RankSet = std::uint32_t;

constexpr int kMostProvenanceRanks = 16;
constexpr std::int64_t kMostProvenanceElements = std::int64_t{1} << 18;

/// Elements [begin, end) of the ranks' inputs, summed over a set of ranks.
struct Piece {
  RankSet ranks = 0;  ///< none: these elements are no such sum; then begin is 0 and end is how many they are
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool known() const { return ranks != 0; }
};

/// One rank's input, int64 [numel]: each element names its rank and its place, and so does every sum of such elements
/// over different ranks.
/// Errors    ContractError: a rank or a numel beyond the limits above
at::Tensor provenance(int rank, std::int64_t numel);

/// What a tensor's elements are, in order, in as few pieces as possible. Memory that nobody filled, a rank that was
/// added twice, elements of different places that were added to each other: a piece that is not known.
/// Example   elements 4 5 of rank 0 plus those of rank 2, then element 0 of rank 1:
///           {ranks 0 2, [4, 6)}, {rank 1, [0, 1)}
std::vector<Piece> pieces_of(const at::Tensor& tensor);

}  // namespace lab::a9
