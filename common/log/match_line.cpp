#include "common/log/match_line.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/log/line_head.h"

namespace lab::log {
namespace {

std::string format_head(const std::string& prefix, int rank) {
  if (rank < 0) throw ContractError(fmt::format("a match line's rank: expected at least 0, got {}", rank));
  if (prefix.empty()) return fmt::format("[Rank {}] ", rank);
  // "Rank 7" as a prefix would read back as the rank.
  if (!is_prefix(prefix)) {
    throw ContractError(
        fmt::format("a match line's prefix: expected text without brackets, control characters or a rank, got '{}'",
                    one_line(prefix)));
  }
  return fmt::format("[{}][Rank {}] ", prefix, rank);
}

}  // namespace

std::string format_figure(double value) {
  if (value < 0) throw ContractError(fmt::format("a match line's figure: expected at least 0, got {}", value));
  return fmt::format("{:.6e}", std::abs(value));  // drops the sign of -0 and of a nan
}

std::optional<double> parse_figure(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // from_chars accepts more spellings than format_figure writes, so the value is formatted again and compared.
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '-') return std::nullopt;
  if (format_figure(value) != text) return std::nullopt;
  return value;
}

std::string format(const MatchLine& line) {
  return fmt::format("{}Tensors match: {} | Max diff: {} | Mean diff: {}", format_head(line.prefix, line.rank),
                     line.match ? "True" : "False", format_figure(line.max_diff), format_figure(line.mean_diff));
}

std::string format(const SkippedLine& line) {
  const std::string reason = one_line(line.reason);
  if (reason.empty()) throw ContractError("a skipped line's reason: expected a text, got nothing");
  return fmt::format("{}skipped: {}", format_head(line.prefix, line.rank), reason);
}

std::optional<MatchLine> parse_match_line(std::string_view text) {
  const std::optional<LineHead> head = parse_line_head(text);
  if (!head) return std::nullopt;
  std::string_view rest = head->rest;
  if (!take_literal(rest, "Tensors match: ")) return std::nullopt;
  const bool match = take_literal(rest, "True");
  if (!match && !take_literal(rest, "False")) return std::nullopt;
  if (!take_literal(rest, " | Max diff: ")) return std::nullopt;
  const std::size_t bar = rest.find(" | Mean diff: ");
  if (bar == std::string_view::npos) return std::nullopt;
  const std::optional<double> max_diff = parse_figure(rest.substr(0, bar));
  take_literal(rest = rest.substr(bar), " | Mean diff: ");
  const std::optional<double> mean_diff = parse_figure(rest);
  if (!max_diff || !mean_diff) return std::nullopt;
  return MatchLine{std::string(head->prefix), head->rank, match, *max_diff, *mean_diff};
}

std::optional<SkippedLine> parse_skipped_line(std::string_view text) {
  const std::optional<LineHead> head = parse_line_head(text);
  if (!head) return std::nullopt;
  std::string_view reason = head->rest;
  if (!take_literal(reason, "skipped: ") || reason.empty() || one_line(reason) != reason) return std::nullopt;
  return SkippedLine{std::string(head->prefix), head->rank, std::string(reason)};
}

}  // namespace lab::log
