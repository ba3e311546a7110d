#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

// Cuts a total into parts: rows for ranks, layers for stages.
namespace lab {

/// One part's share [begin, begin + size) of a total. `what` in the functions below names the total in their messages.
struct Slice {
  int64_t begin = 0;
  int64_t size = 0;
  int64_t end() const { return begin + size; }
};

/// The share of part `index` when every part gets the same.
/// Errors    ContractError: does not divide; a negative total; parts < 1; index outside [0, parts)
/// Example   even_slice(128, 4, 1, "global batch size"): [32, 64)
Slice even_slice(int64_t total, int64_t parts, int64_t index, std::string_view what = "total");

/// The share of part `index` when the first total % parts parts get one more. Shares follow each other without a gap.
/// Errors    ContractError: a negative total; parts < 1; index outside [0, parts)
/// Example   uneven_slice(10, 4, 1): [3, 6)
Slice uneven_slice(int64_t total, int64_t parts, int64_t index, std::string_view what = "total");

/// The sizes of all uneven shares.
/// Errors    ContractError: a negative total; parts < 1
/// Example   uneven_sizes(10, 4): 3 3 2 2
std::vector<int64_t> uneven_sizes(int64_t total, int64_t parts, std::string_view what = "total");

}  // namespace lab
