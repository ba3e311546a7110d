#include "common/log/log_lines.h"

#include "common/base/text.h"
#include "common/log/line_head.h"

namespace lab::log {
namespace {

/// The r of "Rank r initialized" at the front of text.
std::optional<int> take_initialized(std::string_view text) {
  if (!take_literal(text, "Rank ")) return std::nullopt;
  const std::optional<int> rank = take_number(text);
  return rank && take_literal(text, " initialized") ? rank : std::nullopt;
}

}  // namespace

std::vector<LogLine> split_lines(std::string_view text) {
  std::vector<LogLine> lines;
  for (const std::string_view line : split(text, '\n')) lines.push_back({lines.size() + 1, line});
  if (lines.back().text.empty()) lines.pop_back();
  return lines;
}

std::optional<int> rank_of_line(std::string_view line) {
  if (const std::optional<LineHead> head = parse_line_head(line)) return head->rank;
  const std::size_t close = line.find("] ");
  if (line.substr(0, 1) != "[" || close == std::string_view::npos) return std::nullopt;
  return take_initialized(line.substr(close + 2));
}

std::size_t num_rank_marks(std::string_view line) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = line.find("Rank ", at)) != std::string_view::npos; ++at) {
    if ((at > 0 && line[at - 1] == '[') || take_initialized(line.substr(at))) ++count;
  }
  return count;
}

}  // namespace lab::log
