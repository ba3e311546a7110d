#pragma once

#include <string>
#include <string_view>

namespace lab {

/// The text on one line: every run of control characters, with the spaces around it, is one space; none at either end.
/// Example   one_line("a\n  b\n") == "a b"
std::string one_line(std::string_view text);

}  // namespace lab
