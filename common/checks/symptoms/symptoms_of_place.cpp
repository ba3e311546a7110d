#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/checks/symptoms/symptom_kinds.h"

// The right numbers elsewhere in the tensor, or wrong ones in certain places only.
namespace lab::symptoms {
namespace {

/// Which expected part is in which place along one dimension; empty: not the same parts.
std::vector<int> order_of_parts(const WrongResult& wrong, std::int64_t dim, int parts) {
  std::vector<int> order;
  for (int place = 0; place < parts; ++place) {
    WrongResult part = wrong;
    part.actual = part_along(wrong.actual, dim, parts, place);
    for (int source = 0; source < parts && static_cast<int>(order.size()) == place; ++source) {
      const bool used = std::find(order.begin(), order.end(), source) != order.end();
      if (!used && fits(part, part_along(wrong.expected, dim, parts, source))) order.push_back(source);
    }
    if (static_cast<int>(order.size()) == place) return {};
  }
  return order;
}

/// For each index along the dimension, whether anything there is wrong.
std::vector<bool> wrong_slices(const WrongResult& wrong, std::int64_t dim) {
  std::vector<bool> slices;
  for (std::int64_t index = 0; index < wrong.expected.size(dim); ++index) {
    const double error = largest_distance(wrong.actual.select(dim, index), wrong.expected.select(dim, index));
    slices.push_back(error > 1e-3 * wrong.error);
  }
  return slices;
}

/// True if everything wrong lies at an end that has a neighbour, next to something right.
bool wrong_at_borders(const std::vector<bool>& slices, bool has_left, bool has_right) {
  const auto first_right = std::find(slices.begin(), slices.end(), false);
  if (first_right == slices.end()) return false;
  auto last = slices.end();
  while (last != first_right && *(last - 1)) --last;
  const bool inner_right = std::find(first_right, last, true) == last;
  return inner_right && (has_left || first_right == slices.begin()) && (has_right || last == slices.end());
}

/// The first of `parts` equal parts of the expected result in the places of all; undefined: it has no such parts, or
/// ambiguous ones, such as zeros.
at::Tensor first_part_repeated(const at::Tensor& expected, std::int64_t dim, std::int64_t parts) {
  if (parts < 2 || expected.dim() <= dim || expected.size(dim) == 0 || expected.size(dim) % parts != 0)
    return at::Tensor();
  const at::Tensor first = part_along(expected, dim, parts, 0);
  if (same_values(first, first.flatten()[0].expand_as(first))) return at::Tensor();
  return at::cat(std::vector<at::Tensor>(static_cast<std::size_t>(parts), first), dim);
}

}  // namespace

Explanation first_slice_everywhere(const Clues& clues) {
  if (clues.wrong.empty()) return std::nullopt;
  // A stack of results, one for each micro-batch, has as many parts as its first dimension is long.
  std::vector<Count> counts = list_counts(clues);
  if (clues.among_ranks()) counts.insert(counts.begin(), {"ranks", static_cast<double>(clues.size())});
  const at::Tensor& any = clues.wrong.front().expected;
  if (any.dim() > 1) counts.push_back({"slices", static_cast<double>(any.size(0))});
  for (const Count& count : counts) {
    const auto parts = static_cast<std::int64_t>(count.value);
    for (std::int64_t dim = 0; dim < any.dim(); ++dim) {
      if (!all_fit(clues, [&](const WrongResult& each) { return first_part_repeated(each.expected, dim, parts); }))
        continue;
      return fmt::format(
          "{} the right first part in the places of all {} parts along dimension {}: a fixed index 0 instead of the "
          "loop's or the rank's own",
          clues.subject_has(), parts, dim);
    }
  }
  return std::nullopt;
}

Explanation chunks_out_of_order(const Clues& clues) {
  if (!clues.among_ranks() || clues.wrong.empty()) return std::nullopt;
  std::vector<int> first_order;
  std::int64_t first_dim = 0;
  for (const WrongResult& each : clues.wrong) {
    if (!each.actual.defined() || each.actual.sizes() != each.expected.sizes()) return std::nullopt;
    std::vector<int> order;
    for (std::int64_t dim = 0; dim < each.expected.dim() && order.empty(); ++dim) {
      if (each.expected.size(dim) == 0 || each.expected.size(dim) % clues.size() != 0) continue;
      order = order_of_parts(each, dim, clues.size());
      if (first_order.empty() && !order.empty()) {
        first_order = order;
        first_dim = dim;
      }
    }
    if (order.empty()) return std::nullopt;
  }
  return fmt::format(
      "the parts of the ranks are in the wrong order along dimension {}: on rank {} part {} in the places 0, 1, 2 "
      "...",
      first_dim, clues.wrong.front().rank, fmt::join(first_order, ", "));
}

Explanation borders_only(const Clues& clues) {
  constexpr std::int64_t kLeastDims = 3;  // of a vector or a matrix the first elements may be wrong for any reason
  if (!clues.among_ranks() || clues.wrong.empty()) return std::nullopt;
  for (const WrongResult& each : clues.wrong) {
    if (!each.actual.defined() || each.actual.sizes() != each.expected.sizes() || each.expected.dim() < kLeastDims)
      return std::nullopt;
  }
  for (std::int64_t dim = -1; dim >= -2; --dim) {
    const auto test = [&](const WrongResult& each) {
      return wrong_at_borders(wrong_slices(each, dim), each.rank > 0, each.rank + 1 < clues.size());
    };
    if (!std::all_of(clues.wrong.begin(), clues.wrong.end(), test)) continue;
    return fmt::format(
        "{} wrong only at borders between ranks: the neighbours' edges (the halo) are missing, from the wrong side, "
        "or of the wrong width",
        clues.subject_is());
  }
  return std::nullopt;
}

}  // namespace lab::symptoms
