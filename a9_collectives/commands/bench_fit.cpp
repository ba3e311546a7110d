#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "a9_collectives/choices.h"
#include "a9_collectives/commands/bench.h"
#include "common/api/errors.h"

namespace lab::a9 {
namespace {

/// Seconds of a collective on one number of ranks, by algorithm and size; of several transports, their product.
using Timings = std::map<std::string, std::map<std::int64_t, double>>;

/// How much slower than the quickest, summed over the sizes and transports of a line.
constexpr double kWorthAnotherLine = 0.1;

/// Errors    UsageError: as choice_tables()
std::set<std::int64_t> list_sizes(const Timings& timings) {
  std::set<std::int64_t> sizes;
  for (const auto& [algorithm, seconds] : timings) {
    for (const auto& [bytes, of_one] : seconds) sizes.insert(bytes);
  }
  for (const auto& [algorithm, seconds] : timings) {
    if (seconds.size() != sizes.size())
      throw UsageError(fmt::format("{} was measured at {} sizes, expected {}, as the others", algorithm, seconds.size(),
                                   sizes.size()));
  }
  return sizes;
}

/// An algorithm for each size, from the smallest: those whose times, relative to each size's best one, have the least
/// product, where each change from one algorithm to the next costs a tenth.
std::vector<std::string> best_sequence(const Timings& timings, const std::set<std::int64_t>& sizes) {
  struct Way {
    double cost = 0;
    std::vector<std::string> algorithms;
  };
  std::map<std::string, Way> ways;  // by the last algorithm
  for (const std::int64_t bytes : sizes) {
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [algorithm, seconds] : timings) best = std::min(best, seconds.at(bytes));
    std::map<std::string, Way> longer;
    for (const auto& [algorithm, seconds] : timings) {
      Way way;
      for (const auto& [before, shorter] : ways) {
        const double cost = shorter.cost + (before == algorithm ? 0 : kWorthAnotherLine);
        if (way.algorithms.empty() || cost < way.cost) way = {cost, shorter.algorithms};
      }
      way.cost += std::log(seconds.at(bytes) / best);
      way.algorithms.push_back(algorithm);
      longer[algorithm] = std::move(way);
    }
    ways = std::move(longer);
  }
  const auto cheaper = [](const auto& a, const auto& b) { return a.second.cost < b.second.cost; };
  return std::min_element(ways.begin(), ways.end(), cheaper)->second.algorithms;
}

/// Halfway between two sizes, on a logarithmic scale, in whole KiB or MiB.
std::string limit_between(std::int64_t smaller, std::int64_t larger) {
  const double limit = std::sqrt(static_cast<double>(smaller) * static_cast<double>(larger));
  if (limit >= static_cast<double>(kMiB)) return fmt::format("{} * kMiB", std::lround(limit / kMiB));
  return fmt::format("{} * kKiB", std::max(1L, std::lround(limit / kKiB)));
}

std::string list_lines(int num_ranks, const Timings& timings) {
  const std::set<std::int64_t> all = list_sizes(timings);
  const std::vector<std::int64_t> sizes(all.begin(), all.end());
  const std::vector<std::string> algorithms = best_sequence(timings, all);
  std::string lines;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool is_last = i + 1 == sizes.size();
    if (!is_last && algorithms[i] == algorithms[i + 1]) continue;
    const std::string limit = is_last ? "kAnySize" : limit_between(sizes[i], sizes[i + 1]);
    lines += fmt::format("      {{{}, {}, \"{}\"}},\n", num_ranks, limit, algorithms[i]);
  }
  return lines;
}

}  // namespace

std::string choice_tables(const std::vector<BenchRow>& rows) {
  std::vector<std::string> collectives;
  std::map<std::string, std::map<int, Timings>> all;
  for (const BenchRow& row : rows) {
    if (all.count(row.collective) == 0) collectives.push_back(row.collective);
    const auto [place, is_first] = all[row.collective][row.ranks][row.algorithm].emplace(row.bytes, row.median_seconds);
    if (!is_first) place->second *= row.median_seconds;
  }
  std::string text;
  for (const std::string& collective : collectives) {
    text += fmt::format("// choose_{}()\n  static const std::vector<Choice> table = {{\n", collective);
    for (const auto& [num_ranks, timings] : all[collective]) text += list_lines(num_ranks, timings);
    text += "  };\n  return quickest(table, num_bytes, num_ranks);\n";
  }
  return text;
}

}  // namespace lab::a9
