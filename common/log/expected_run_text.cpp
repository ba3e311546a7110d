#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/log/expected_run.h"
#include "common/log/line_head.h"
#include "common/log/log_lines.h"
#include "common/log/match_line.h"

// The text form of an ExpectedRun, written and read.
namespace lab::log {
namespace {

constexpr int kMostRanks = 4096;  // as many as --nproc takes

/// The part of text before the next " |", which is taken, with the space after it, from the front of text.
std::optional<std::string_view> take_column(std::string_view& text) {
  const std::size_t bar = text.find(" |");
  if (bar == std::string_view::npos) return std::nullopt;
  const std::string_view column = text.substr(0, bar);
  text.remove_prefix(bar + 2);
  if (!text.empty() && !take_literal(text, " ")) return std::nullopt;
  return column;
}

std::string column(const std::string& content) {
  return content.empty() ? " |" : " | " + content;
}

// --- which ranks ---

/// The ways to say which ranks print a line, the preferred one first: "all", "0-1", "last".
std::vector<std::string> list_names(const std::set<int>& ranks, int num_ranks) {
  std::vector<std::string> names;
  if (ranks.size() == static_cast<std::size_t>(num_ranks)) names.emplace_back("all");
  names.push_back(text_of_ranges(ranks));
  if (ranks == std::set<int>{num_ranks - 1}) names.emplace_back("last");
  return names;
}

std::optional<std::set<int>> ranks_named(std::string_view name, int num_ranks) {
  if (name == "last") return std::set<int>{num_ranks - 1};
  if (name != "all") return parse_ranges(name, num_ranks - 1);
  std::set<int> all;
  for (int rank = 0; rank < num_ranks; ++rank) all.insert(all.end(), rank);
  return all;
}

/// "all", or "0 on 1-2; 0-1 on 3,5": each name with the sizes that it holds for, those that hold for most first.
std::string text_of_ranks(const std::map<int, std::set<int>>& ranks_on, const std::set<int>& sizes) {
  std::vector<std::pair<std::string, std::set<int>>> named;  // in the order of preference
  for (const auto& [size, ranks] : ranks_on) {
    for (const std::string& name : list_names(ranks, size)) {
      const auto same = [&](const auto& one) { return one.first == name; };
      if (std::none_of(named.begin(), named.end(), same)) named.emplace_back(name, std::set<int>());
      std::find_if(named.begin(), named.end(), same)->second.insert(size);
    }
  }
  std::string text;
  while (true) {
    const auto most = std::max_element(named.begin(), named.end(), [](const auto& a, const auto& b) {
      return a.second.size() < b.second.size();  // of equals the first
    });
    if (most == named.end() || most->second.empty()) return text;
    const std::set<int> chosen = most->second;
    if (!text.empty()) text += "; ";
    text += most->first;
    if (chosen != sizes) text += " on " + text_of_ranges(chosen);
    for (auto& one : named) {
      for (const int size : chosen) one.second.erase(size);
    }
  }
}

std::optional<std::map<int, std::set<int>>> parse_ranks(std::string_view text, const std::set<int>& sizes) {
  std::map<int, std::set<int>> ranks_on;
  for (std::string_view part : split(text, ';')) {
    if (!ranks_on.empty() && !take_literal(part, " ")) return std::nullopt;
    const std::size_t on = part.find(" on ");
    const auto own = on == std::string_view::npos ? sizes : parse_ranges(part.substr(on + 4), kMostRanks);
    if (!own || !std::includes(sizes.begin(), sizes.end(), own->begin(), own->end())) return std::nullopt;
    for (const int size : *own) {
      const std::optional<std::set<int>> ranks = ranks_named(part.substr(0, on), size);
      if (!ranks || ranks->empty() || !ranks_on.emplace(size, *ranks).second) return std::nullopt;
    }
  }
  return ranks_on;
}

// --- which line ---

struct Written {
  std::string operator()(const ExpectedText& line) const { return column("text") + column(line.text); }
  std::string operator()(const ExpectedMatch& line) const {
    std::string kind = line.match ? fmt::format("True max {}", line.max_bound) : "False";
    const auto figure = [](const std::string& exact) { return exact.empty() ? "-" : exact; };
    if (!line.exact_max.empty() || !line.exact_mean.empty())
      kind += fmt::format(" exactly {} {}", figure(line.exact_max), figure(line.exact_mean));
    return column(kind) + column(line.prefix);
  }
  std::string operator()(const ExpectedSkip& line) const {
    return column("skipped") + column(line.prefix) + column(line.reason);
  }
};

std::optional<double> parse_bound(std::string_view text) {
  double bound = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bound);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(bound) && bound >= 0 ? std::optional(bound) : std::nullopt;
}

/// The figure of "exactly", as ExpectedMatch has it.
std::optional<std::string> parse_exact(std::string_view text) {
  if (text == "-") return std::string();
  return parse_figure(text) ? std::optional(std::string(text)) : std::nullopt;
}

/// "True max 1e-06", "False exactly 1.193051e-01 -".
std::optional<ExpectedMatch> parse_match_kind(std::string_view kind, std::string_view prefix) {
  ExpectedMatch line{std::string(prefix), take_literal(kind, "True max "), 0, "", ""};
  if (!line.match && !take_literal(kind, "False")) return std::nullopt;
  const std::size_t exactly = kind.find(" exactly ");
  const std::string_view figures = exactly == std::string_view::npos ? "" : kind.substr(exactly + 9);
  kind = kind.substr(0, exactly);
  if (line.match) {
    const std::optional<double> bound = parse_bound(kind);
    if (!bound) return std::nullopt;
    line.max_bound = *bound;
  } else if (!kind.empty()) {
    return std::nullopt;
  }
  if (exactly == std::string_view::npos) return line;
  const std::vector<std::string_view> words = split(figures, ' ');
  const auto max = parse_exact(words.front()), mean = parse_exact(words.back());
  if (words.size() != 2 || !max || !mean) return std::nullopt;
  line.exact_max = *max;
  line.exact_mean = *mean;
  return line;
}

std::optional<ExpectedLine> parse_line(std::string_view kind, std::string_view content) {
  if (kind == "text") return ExpectedText{std::string(content)};
  if (kind != "skipped") {
    const std::optional<ExpectedMatch> match = parse_match_kind(kind, content);
    return match ? std::optional<ExpectedLine>(*match) : std::nullopt;
  }
  const std::optional<std::string_view> prefix = take_column(content);
  return prefix ? std::optional<ExpectedLine>(ExpectedSkip{std::string(*prefix), std::string(content)}) : std::nullopt;
}

std::optional<ExpectedRunLine> parse_run_line(std::string_view text, const std::set<int>& sizes) {
  const std::optional<std::string_view> where = take_column(text), kind = take_column(text);
  if (!where || !kind) return std::nullopt;
  const auto ranks_on = parse_ranks(*where, sizes);
  const auto line = parse_line(*kind, text);
  if (!ranks_on || !line) return std::nullopt;
  return ExpectedRunLine{*line, *ranks_on};
}

/// A run that has no size yet takes nothing else.
bool take_line(std::string_view text, std::vector<ExpectedRun>& runs) {
  if (text == "run" || take_literal(text, "run ")) {
    runs.push_back({text == "run" ? "" : std::string(text), {}, {}});
    return true;
  }
  if (runs.empty()) return false;
  ExpectedRun& run = runs.back();
  if (run.sizes.empty()) {
    const auto sizes = take_literal(text, "ranks ") ? parse_ranges(text, kMostRanks) : std::nullopt;
    if (!sizes || *sizes->begin() < 1) return false;
    run.sizes = *sizes;
    return true;
  }
  const std::optional<ExpectedRunLine> line = parse_run_line(text, run.sizes);
  if (line) run.lines.push_back(*line);
  return line.has_value();
}

}  // namespace

std::string to_text(const ExpectedRun& run) {
  std::string text = run.options.empty() ? "run\n" : fmt::format("run {}\n", run.options);
  text += fmt::format("ranks {}\n", text_of_ranges(run.sizes));
  for (const ExpectedRunLine& line : run.lines) {
    const std::string written = text_of_ranks(line.ranks_on, run.sizes) + std::visit(Written{}, line.line);
    const std::optional<ExpectedRunLine> read = parse_run_line(written, run.sizes);
    if (!read || !(read->line == line.line) || written.find('\n') != std::string::npos)
      throw ContractError(fmt::format("an expected line that has no written form: {}", one_line(written)));
    text += written + "\n";
  }
  return text;
}

std::vector<ExpectedRun> expected_runs(std::string_view text, const std::string& name) {
  std::vector<ExpectedRun> runs;
  for (const LogLine& line : split_lines(text)) {
    if (line.text.empty() || line.text.front() == '#' || take_line(line.text, runs)) continue;
    const char* expected = runs.empty()                ? "run, and the options that change its lines"
                           : runs.back().sizes.empty() ? "ranks, and the numbers of ranks, such as 1-4,8"
                                                       : "RANKS | KIND | CONTENT, as in 0 | text | [Rank {rank}] done";
    throw UsageError(
        fmt::format("{}: line {}: expected {}; got '{}'", name, line.number, expected, safe_text(line.text, 200)));
  }
  return runs;
}

}  // namespace lab::log
