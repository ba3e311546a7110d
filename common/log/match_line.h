#pragma once

#include <optional>
#include <string>
#include <string_view>

// The two kinds of line that a log is graded by. One grammar: parse accepts exactly what format writes.
namespace lab::log {

/// The outcome of one comparison on one rank.
struct MatchLine {
  std::string prefix;  ///< name of the check, or empty; no brackets, no control characters, not "Rank <n>"
  int rank = 0;
  bool match = false;
  double max_diff = 0.0;  ///< largest absolute difference; nan and inf are allowed, a sign is not
  double mean_diff = 0.0;
};

/// A check that could not run here: neither a pass nor a failure.
struct SkippedLine {
  std::string prefix;
  int rank = 0;
  std::string reason;
};

/// The line, without a newline. Figures are Python's %.6e; every nan is "nan".
/// Errors    ContractError: a prefix, rank, figure or reason that the grammar cannot express
/// Example   [DataParallel][Rank 1] Tensors match: True | Max diff: 2.384186e-07 | Mean diff: 5.065431e-09
std::string format(const MatchLine& line);

/// Example   [Sandbox][Rank 0] skipped: user namespaces are not permitted here
std::string format(const SkippedLine& line);

/// "2.384186e-07", "nan", "inf": a figure of a match line.
std::string format_figure(double value);

/// The figure, or nothing unless format_figure could have written the text.
std::optional<double> parse_figure(std::string_view text);

/// The line's content, or nothing: strict, so that format(*parse_match_line(text)) == text.
std::optional<MatchLine> parse_match_line(std::string_view text);
std::optional<SkippedLine> parse_skipped_line(std::string_view text);

}  // namespace lab::log
