#pragma once

#include <string>
#include <string_view>

namespace lab {

/// The text without what only a terminal understands: colours, links, titles. A sequence that is cut off stays.
/// Example   without_escapes("\x1B[31mred\x1B[0m") == "red"
std::string without_escapes(std::string_view text);

}  // namespace lab
