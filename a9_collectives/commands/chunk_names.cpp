#include "a9_collectives/commands/chunk_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/api/errors.h"
#include "common/tensor/mixing.h"

namespace lab::a9 {
namespace {

constexpr int kCountBit = 20;
constexpr int kElementBit = 25;
constexpr int kCheckBit = 47;
constexpr int kEndBit = 61;

std::uint64_t find_check(std::uint64_t rank, std::uint64_t element) {
  return splitmix64(element * kMostProvenanceRanks + rank) >> 54;
}

std::uint64_t field(std::uint64_t value, int bit, int next_bit) {
  return (value >> bit) & ((std::uint64_t{1} << (next_bit - bit)) - 1);
}

/// Two fields of the sum of an element over a set of ranks.
struct Sum {
  std::uint64_t count = 0;
  std::uint64_t check = 0;
};
Sum sum_over(std::uint64_t ranks, std::uint64_t element) {
  Sum sum;
  for (std::uint64_t rank = 0; ranks >> rank != 0; ++rank) {
    if (((ranks >> rank) & 1) == 0) continue;
    ++sum.count;
    sum.check += find_check(rank, element);
  }
  return sum;
}

/// The piece of one element.
Piece make_piece(std::uint64_t value) {
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

constexpr std::size_t kMostParts = 3;  ///< that are named one by one

bool contains(RankSet ranks, int rank) {
  return ((ranks >> rank) & 1) != 0;
}

/// Ascending; if the ranks are consecutive on the ring, starting with the first of them.
std::vector<int> in_ring_order(RankSet ranks, int num_ranks) {
  std::vector<int> firsts;
  std::vector<int> members;
  for (int rank = 0; rank < num_ranks; ++rank) {
    if (!contains(ranks, rank)) continue;
    members.push_back(rank);
    if (!contains(ranks, (rank - 1 + num_ranks) % num_ranks)) firsts.push_back(rank);
  }
  if (firsts.size() == 1)
    std::rotate(members.begin(), std::find(members.begin(), members.end(), firsts[0]), members.end());
  return members;
}

/// The rank of a piece that is one rank's own, otherwise -1.
int only_rank(const Piece& piece) {
  if (!piece.known() || (piece.ranks & (piece.ranks - 1)) != 0) return -1;
  int rank = 0;
  while (!contains(piece.ranks, rank)) ++rank;
  return rank;
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
                                (find_check(static_cast<std::uint64_t>(rank), element) << kCheckBit);
    values[i] = static_cast<std::int64_t>(value);
  }
  return tensor;
}

std::vector<Piece> split_pieces(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  if (tensor.scalar_type() != at::kLong) return {{0, 0, tensor.numel()}};
  const at::Tensor row = tensor.detach().contiguous();
  const auto* values = row.data_ptr<std::int64_t>();
  std::vector<Piece> pieces;
  for (std::int64_t i = 0; i < row.numel(); ++i) {
    const Piece next = make_piece(static_cast<std::uint64_t>(values[i]));
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

std::string letter(int rank) {
  return std::string(1, static_cast<char>('a' + rank));
}

std::string sum_name(RankSet ranks, int num_ranks) {
  const std::vector<int> members = in_ring_order(ranks, num_ranks);
  const std::size_t count = members.size();
  if (count == static_cast<std::size_t>(num_ranks)) return "Σ";
  const int stride = count < 2 ? 1 : (members[1] - members[0] + num_ranks) % num_ranks;
  // Four that are not consecutive are about as short in full as with dots.
  if (count <= kMostParts || (count == kMostParts + 1 && stride != 1)) {
    std::vector<std::string> letters;
    for (const int rank : members) letters.push_back(letter(rank));
    return fmt::format("{}", fmt::join(letters, "+"));
  }
  for (std::size_t i = 2; i < count; ++i) {
    if ((members[i] - members[i - 1] + num_ranks) % num_ranks != stride) return fmt::format("{} ranks", count);
  }
  if (stride == 1) return letter(members.front()) + ".." + letter(members.back());
  return fmt::format("{}+{}+..+{}", letter(members[0]), letter(members[1]), letter(members.back()));
}

ChunkNames::ChunkNames(const std::vector<Piece>& all_pieces, int num_ranks) : num_ranks_(num_ranks) {
  for (const Piece& piece : all_pieces) {
    if (!piece.known()) continue;
    starts_.push_back(piece.begin);
    starts_.push_back(piece.end);
  }
  if (starts_.empty()) starts_ = {0, 0};
  std::sort(starts_.begin(), starts_.end());
  starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
}

int ChunkNames::chunk_at(std::int64_t element) const {
  return static_cast<int>(std::upper_bound(starts_.begin(), starts_.end(), element) - starts_.begin()) - 1;
}

std::vector<Piece> ChunkNames::cut(const std::vector<Piece>& pieces) const {
  std::vector<Piece> result;
  for (Piece rest : pieces) {
    if (!rest.known()) {
      result.push_back(rest);
      continue;
    }
    while (rest.begin < rest.end) {
      const std::int64_t end = std::min(rest.end, starts_[static_cast<std::size_t>(chunk_at(rest.begin)) + 1]);
      result.push_back({rest.ranks, rest.begin, end});
      rest.begin = end;
    }
  }
  return result;
}

std::string ChunkNames::numbers(const Piece& piece) const {
  if (count() == 1) return "";
  const int first = chunk_at(piece.begin);
  const int last = chunk_at(piece.end - 1);
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

std::string ChunkNames::own_parts(const std::vector<Piece>& pieces, std::size_t begin, std::size_t end) const {
  const auto get_name = [&](std::size_t i) { return letter(only_rank(pieces[i])) + numbers(pieces[i]); };
  if (end - begin > kMostParts) return get_name(begin) + ".." + get_name(end - 1);
  std::vector<std::string> names;
  for (std::size_t i = begin; i < end; ++i) names.push_back(get_name(i));
  return fmt::format("{}", fmt::join(names, " "));
}

std::string ChunkNames::name(const std::vector<Piece>& pieces) const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < pieces.size();) {
    const Piece& piece = pieces[i];
    const int rank = only_rank(piece);
    // The same chunks of consecutive ranks are named together.
    std::size_t end = i + 1;
    const auto goes_on = [&](const Piece& next) {
      return next.begin == piece.begin && next.end == piece.end &&
             only_rank(next) == (rank + static_cast<int>(end - i)) % num_ranks_;
    };
    while (rank >= 0 && end < pieces.size() && goes_on(pieces[end])) ++end;
    if (!piece.known()) {
      parts.emplace_back("?");
    } else if (rank >= 0) {
      parts.push_back(own_parts(pieces, i, end));
    } else {
      const std::string chunks = numbers(piece);
      parts.push_back((chunks.empty() ? "" : chunks + ":") + sum_name(piece.ranks, num_ranks_));
    }
    i = end;
  }
  const std::size_t shown = std::min(parts.size(), kMostParts);
  const std::string more = shown < parts.size() ? fmt::format(" and {} more", parts.size() - shown) : "";
  return fmt::format("{}{}", fmt::join(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(shown), " "), more);
}

}  // namespace lab::a9
