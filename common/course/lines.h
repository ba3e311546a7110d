#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// The text's lines, each with its line break; the last one may have none.
/// Example   "a\nb": "a\n", "b"
std::vector<std::string> lines_of(std::string_view text);

/// The line without its "\n" or "\r\n".
std::string_view without_line_break(std::string_view line);

}  // namespace lab
