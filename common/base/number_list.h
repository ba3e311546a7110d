#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lab {

/// What every number of a list must be.
struct NumberRule {
  std::int64_t min = 1;
  std::int64_t max = 64;
  std::int64_t multiple_of = 1;
};

/// The whole numbers of an option's value, with commas between them.
/// Errors    UsageError: no such list, or a number that the rule forbids
/// Example   numbers_in("--ranks", "1,2,4", {1, 64}): 1 2 4
std::vector<std::int64_t> numbers_in(const std::string& option, const std::string& text, const NumberRule& rule);

}  // namespace lab
