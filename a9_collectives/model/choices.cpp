#include "a9_collectives/choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/api/errors.h"

namespace lab::a9 {
namespace {

bool is_power_of_two(int size) {
  return (size & (size - 1)) == 0;
}

/// 0: the table has no lines of that kind.
int nearest_measured(const std::vector<Choice>& table, int num_ranks) {
  int smallest = 0, below = 0;
  for (const Choice& line : table) {
    if (is_power_of_two(line.num_ranks) != is_power_of_two(num_ranks)) continue;
    if (smallest == 0 || line.num_ranks < smallest) smallest = line.num_ranks;
    if (line.num_ranks <= num_ranks) below = std::max(below, line.num_ranks);
  }
  return below > 0 ? below : smallest;
}

}  // namespace

std::string quickest(const std::vector<Choice>& table, std::int64_t num_bytes, int num_ranks) {
  int largest = 0;
  for (const Choice& line : table) largest = std::max(largest, line.num_ranks);
  const int measured = nearest_measured(table, num_ranks);
  const std::int64_t bytes = num_ranks > largest ? num_bytes / num_ranks * measured : num_bytes;
  for (const Choice& line : table) {
    if (line.num_ranks == measured && bytes <= line.max_bytes) return line.algorithm;
  }
  throw ContractError(
      fmt::format("a table of algorithms: expected a line for {} bytes on {} ranks, got {} lines, none of "
                  "which fits; hint: the last line of each number of ranks is for kAnySize",
                  num_bytes, num_ranks, table.size()));
}

}  // namespace lab::a9
