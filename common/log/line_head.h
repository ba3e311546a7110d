#pragma once

#include <optional>
#include <string_view>

namespace lab {

/// "[prefix][Rank r] rest" or "[Rank r] rest": whose line it is. The views point into the line.
struct LineHead {
  std::string_view prefix;
  int rank = 0;
  std::string_view rest;
};

/// The head, or nothing where the line does not begin with exactly one of the two forms and a space.
std::optional<LineHead> parse_line_head(std::string_view line);

/// An integer in its only spelling (no sign, no leading zeros) at the front of text, which it is taken from.
std::optional<int> take_number(std::string_view& text);

/// Takes the literal from the front of text; false, and text unchanged, where text begins otherwise.
bool take_literal(std::string_view& text, std::string_view literal);

/// True for what may stand in a prefix's brackets: not empty, no brackets, no control characters, not "Rank <n>".
bool is_prefix(std::string_view prefix);

}  // namespace lab
