#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lab::a9 {

// Data that encodes where it came from, so that a picture's labels are decoded from what was actually sent.

/// A set of ranks: bit r is rank r.
using RankSet = std::uint32_t;

constexpr int kMostProvenanceRanks = 16;
constexpr std::int64_t kMostProvenanceElements = std::int64_t{1} << 18;

/// Elements [begin, end) of the ranks' inputs, summed over a set of ranks.
struct Piece {
  RankSet ranks = 0;  ///< empty: not such a sum; then begin is 0 and end is the number of elements
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool known() const { return ranks != 0; }
};

/// One rank's input, int64 [numel]: each element encodes its rank and position, and so does every sum of such elements
/// over different ranks.
/// Errors    ContractError: rank or numel beyond the limits above
at::Tensor provenance(int rank, std::int64_t numel);

/// What a tensor's elements are, in order, in as few pieces as possible. Memory that was never filled, a rank added
/// twice, or elements of different positions added together give a piece that is not known().
/// Example   elements 4 5 of rank 0 plus those of rank 2, then element 0 of rank 1:
///           {ranks 0 2, [4, 6)}, {rank 1, [0, 1)}
std::vector<Piece> split_pieces(const at::Tensor& tensor);

/// "a" for rank 0, "b" for rank 1, ...
std::string letter(int rank);

/// What was added up: "a"; "a+b"; "d+a+b", in ring order if they are consecutive on the ring. More than three:
/// "a..d", "a+c+e+g", with a stride "a+c+..+o", otherwise "5 ranks". "Σ" for all.
std::string sum_name(RankSet ranks, int num_ranks);

/// The chunks of one run, and the names of the pieces of its data. Chunks are inferred: they lie between the positions
/// where any piece begins or ends.
class ChunkNames {
 public:
  ChunkNames(const std::vector<Piece>& all_pieces, int num_ranks);

  int count() const { return static_cast<int>(starts_.size()) - 1; }  ///< 1: nothing was cut

  /// The same elements, no piece longer than a chunk.
  std::vector<Piece> cut(const std::vector<Piece>& pieces) const;

  /// "a2": chunk 2 of rank 0. "a0-2": chunks 0 to 2. "a2 b2": one after the other; "a2..d2": more than three, of ranks
  /// that are consecutive on the ring. "2:a+b": the sum of chunk 2 over ranks 0 and 1, as sum_name() has it. No
  /// numbers if there is only one chunk. "?": elements of unknown origin. At most three parts are named.
  std::string name(const std::vector<Piece>& pieces) const;
  std::string name(const Piece& piece) const { return name(std::vector<Piece>{piece}); }

 private:
  int chunk_at(std::int64_t element) const;
  std::string numbers(const Piece& piece) const;
  /// The name of pieces [begin, end), each one rank's own.
  std::string own_parts(const std::vector<Piece>& pieces, std::size_t begin, std::size_t end) const;

  int num_ranks_;
  std::vector<std::int64_t> starts_;  ///< of each chunk, in order, and the end of the last
};

}  // namespace lab::a9
