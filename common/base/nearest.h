#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that was probably meant, or nothing when none is near: at most a third of its letters differ.
std::optional<std::string> nearest(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace lab
