#include "common/log/expected_line.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "common/base/text.h"
#include "common/log/line_template.h"
#include "common/log/match_line.h"

namespace lab::log {
namespace {

std::string head(const std::string& prefix, int rank) {
  return prefix.empty() ? fmt::format("[Rank {}]", rank) : fmt::format("[{}][Rank {}]", prefix, rank);
}

std::string of_rank(const ExpectedText& expected, int rank) {
  std::string text = expected.text;
  replace_all(text, "{rank}", std::to_string(rank));
  return text;
}

const char* spelled(bool match) {
  return match ? "True" : "False";
}

std::string problem_with_figures(const ExpectedMatch& expected, const MatchLine& line) {
  const std::string max = format_figure(line.max_diff);
  const std::string mean = format_figure(line.mean_diff);
  if (line.match != expected.match) {
    return fmt::format("expected {}, got {}", spelled(expected.match), spelled(line.match));
  }
  if (!std::isfinite(line.max_diff)) return "expected a finite max diff, got " + max;
  if (!std::isfinite(line.mean_diff)) return "expected a finite mean diff, got " + mean;
  // A mean of equal differences may exceed them in its last printed digit.
  if (line.mean_diff > line.max_diff * (1.0 + 1e-5)) return fmt::format("mean diff {} is above max diff {}", mean, max);
  if (line.mean_diff == 0.0 && line.max_diff > 0.0) return fmt::format("mean diff is 0 though max diff is {}", max);
  if (!expected.match && line.max_diff == 0.0) return "a mismatch needs a max diff above 0, got " + max;
  if (expected.match && line.max_diff > expected.max_bound) {
    return fmt::format("expected a max diff of at most {:g}, got {}", expected.max_bound, max);
  }
  if (!expected.exact_max.empty() && expected.exact_max != max) {
    return fmt::format("expected max diff {}, got {}", expected.exact_max, max);
  }
  if (!expected.exact_mean.empty() && expected.exact_mean != mean) {
    return fmt::format("expected mean diff {}, got {}", expected.exact_mean, mean);
  }
  return "";
}

struct Problem {
  int rank;
  std::string_view text;

  std::string other_line(const ExpectedLine& expected) const {
    return fmt::format("expected {}, got \"{}\"", describe(expected, rank), text);
  }
  std::string operator()(const ExpectedText& expected) const {
    return matches_template(of_rank(expected, rank), text) ? "" : other_line(expected);
  }
  std::string operator()(const ExpectedMatch& expected) const {
    const std::optional<MatchLine> line = parse_match_line(text);
    if (!line || line->prefix != expected.prefix || line->rank != rank) return other_line(expected);
    return problem_with_figures(expected, *line);
  }
  std::string operator()(const ExpectedSkip& expected) const {
    const std::optional<SkippedLine> line = parse_skipped_line(text);
    if (!line || line->prefix != expected.prefix || line->rank != rank) return other_line(expected);
    if (!expected.reason.empty() && line->reason != expected.reason) return other_line(expected);
    return "";
  }
};

struct Resemblance {
  int rank;
  std::string_view text;

  bool operator()(const ExpectedText& expected) const { return matches_template(of_rank(expected, rank), text); }
  bool operator()(const ExpectedMatch& expected) const {
    const std::optional<MatchLine> line = parse_match_line(text);
    return line && line->prefix == expected.prefix && line->rank == rank;
  }
  bool operator()(const ExpectedSkip& expected) const {
    const std::optional<SkippedLine> line = parse_skipped_line(text);
    return line && line->prefix == expected.prefix && line->rank == rank;
  }
};

struct Description {
  int rank;

  std::string operator()(const ExpectedText& expected) const {
    return "\"" + without_formats(of_rank(expected, rank)) + "\"";
  }
  std::string operator()(const ExpectedMatch& expected) const {
    return fmt::format("\"{} Tensors match: {} | ...\"", head(expected.prefix, rank), spelled(expected.match));
  }
  std::string operator()(const ExpectedSkip& expected) const {
    return fmt::format("\"{} skipped: {}\"", head(expected.prefix, rank),
                       expected.reason.empty() ? "..." : expected.reason);
  }
};

}  // namespace

ExpectedText rank_text(std::string_view line_template) {
  return {fmt::format("[Rank {{rank}}] {}", line_template)};
}

std::string problem_with(const ExpectedLine& expected, int rank, std::string_view text) {
  return std::visit(Problem{rank, text}, expected);
}

bool resembles(const ExpectedLine& expected, int rank, std::string_view text) {
  return std::visit(Resemblance{rank, text}, expected);
}

std::string describe(const ExpectedLine& expected, int rank) {
  return std::visit(Description{rank}, expected);
}

}  // namespace lab::log
