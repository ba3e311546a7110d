#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace lab::log {

/// "1-3,5" for 1, 2, 3 and 5.
std::string text_of_ranges(const std::set<int>& numbers);

/// The numbers, or nothing if text_of_ranges() cannot have written the text. None is above `max`.
std::optional<std::set<int>> parse_ranges(std::string_view text, int max);

}  // namespace lab::log
