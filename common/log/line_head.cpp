#include "common/log/line_head.h"

#include <charconv>

namespace lab::log {

std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.front() == '-') return std::nullopt;
  const auto length = static_cast<std::size_t>(end - text.data());
  if (length > 1 && text.front() == '0') return std::nullopt;
  text.remove_prefix(length);
  return number;
}

bool take_literal(std::string_view& text, std::string_view literal) {
  if (text.substr(0, literal.size()) != literal) return false;
  text.remove_prefix(literal.size());
  return true;
}

bool is_prefix(std::string_view prefix) {
  for (const char c : prefix) {
    if (c == '[' || c == ']' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  const bool names_a_rank = take_literal(prefix, "Rank ") && take_number(prefix) && prefix.empty();
  return !names_a_rank && !prefix.empty();
}

std::optional<LineHead> parse_line_head(std::string_view line) {
  LineHead head;
  std::string_view rest = line;
  if (rest.substr(0, 6) != "[Rank ") {
    if (!take_literal(rest, "[")) return std::nullopt;
    const std::size_t close = rest.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    head.prefix = rest.substr(0, close);
    if (!is_prefix(head.prefix)) return std::nullopt;
    rest.remove_prefix(close + 1);
  }
  if (!take_literal(rest, "[Rank ")) return std::nullopt;
  const std::optional<int> rank = take_number(rest);
  if (!rank || !take_literal(rest, "] ")) return std::nullopt;
  head.rank = *rank;
  head.rest = rest;
  return head;
}

}  // namespace lab::log
