#include "common/log/expected_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "common/base/errors.h"
#include "common/log/line_head.h"
#include "common/log/match_line.h"

namespace lab {
namespace {

bool is_whole_number(std::string_view text) {
  return take_number(text) && text.empty();
}

bool is_number(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

/// Letters, digits and the characters that join them in a name or a list.
bool is_word(std::string_view text) {
  const auto belongs = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '.' || c == ','; };
  return !text.empty() && std::all_of(text.begin(), text.end(), belongs);
}

bool fills(std::string_view field, std::string_view text) {
  if (field == "node") return text == "N/A" || is_whole_number(text);
  if (field == "index") return is_whole_number(text);
  if (field == "device") return text == "GPU" || text == "CPU";
  if (field == "number") return is_number(text);
  if (field == "figure") return is_number(text) && parse_figure(text).has_value();
  if (field == "word") return is_word(text);
  throw ContractError("a log template: unknown field {" + std::string(field) +
                      "}; expected node, index, device, number, figure or word");
}

std::string head(const std::string& prefix, int rank) {
  return prefix.empty() ? fmt::format("[Rank {}]", rank) : fmt::format("[{}][Rank {}]", prefix, rank);
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
    return matches_template(expected.text, text) ? "" : other_line(expected);
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

  bool operator()(const ExpectedText& expected) const { return matches_template(expected.text, text); }
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

  std::string operator()(const ExpectedText& expected) const { return "\"" + expected.text + "\""; }
  std::string operator()(const ExpectedMatch& expected) const {
    return fmt::format("\"{} Tensors match: {} | ...\"", head(expected.prefix, rank), spelled(expected.match));
  }
  std::string operator()(const ExpectedSkip& expected) const {
    return fmt::format("\"{} skipped: {}\"", head(expected.prefix, rank),
                       expected.reason.empty() ? "..." : expected.reason);
  }
};

}  // namespace

bool matches_template(std::string_view line_template, std::string_view text) {
  const std::size_t open = line_template.find('{');
  if (open == std::string_view::npos) return line_template == text;
  const std::size_t close = line_template.find('}', open);
  if (close == std::string_view::npos) throw ContractError("a log template: '{' without '}'");
  const std::string_view field = line_template.substr(open + 1, close - open - 1);
  fills(field, "");  // an unknown field is an error even if the text already differs
  if (!take_literal(text, line_template.substr(0, open))) return false;
  // A field has no fixed length: try each, and let the rest of the template decide.
  for (std::size_t length = 1; length <= text.size(); ++length) {
    if (fills(field, text.substr(0, length)) &&
        matches_template(line_template.substr(close + 1), text.substr(length))) {
      return true;
    }
  }
  return false;
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

}  // namespace lab
