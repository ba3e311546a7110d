#pragma once

#include <optional>
#include <string_view>

namespace lab::log {

/// The parts of "[prefix][Rank r] rest" or "[Rank r] rest". The views point into the line.
struct LineHead {
  std::string_view prefix;
  int rank = 0;
  std::string_view rest;
};

/// The head, or nothing if the line does not begin with exactly one of the two forms and a space.
std::optional<LineHead> parse_line_head(std::string_view line);

/// Takes an integer in canonical form (no sign, no leading zeros) from the front of text.
std::optional<int> take_number(std::string_view& text);

/// Takes the literal from the front of text; false, and text unchanged, if it begins otherwise.
bool take_literal(std::string_view& text, std::string_view literal);

/// True if the text may stand in a prefix's brackets: not empty, no brackets, no control characters, not "Rank <n>".
bool is_prefix(std::string_view prefix);

}  // namespace lab::log
