#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lab {

/// The constraint on every number of a list.
struct NumberRule {
  std::int64_t min = 1;
  std::int64_t max = 64;
  std::int64_t multiple_of = 1;
};

/// The comma-separated integers of an option's value.
/// Errors    UsageError: not a list of integers, or a number that the rule forbids
/// Example   numbers_in("--ranks", "1,2,4", {1, 64}): 1 2 4
std::vector<std::int64_t> numbers_in(const std::string& option, const std::string& text, const NumberRule& rule);

/// "0 B", "4 KiB", "1.5 MiB".
std::string describe_bytes(std::uint64_t bytes);

}  // namespace lab
