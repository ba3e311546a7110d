#include "a9_collectives/commands/sim_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/errors.h"
#include "common/base/numbers.h"

namespace lab::a9 {
namespace {

/// Rows of one size, in the catalogue's order.
std::map<std::int64_t, std::vector<const SimRow*>> by_size(const std::vector<SimRow>& rows) {
  std::map<std::int64_t, std::vector<const SimRow*>> sizes;
  for (const SimRow& row : rows) {
    if (row.left_out.empty()) sizes[row.bytes].push_back(&row);
  }
  return sizes;
}

const SimRow& quickest(const std::vector<const SimRow*>& rows) {
  const SimRow* best = rows.front();
  for (const SimRow* row : rows) {
    if (row->simulated_seconds < best->simulated_seconds * (1 - 1e-9)) best = row;
  }
  return *best;
}

double seconds_of(const std::vector<const SimRow*>& rows, const std::string& algorithm) {
  for (const SimRow* row : rows) {
    if (row->algorithm == algorithm) return row->simulated_seconds;
  }
  return std::nan("");
}

}  // namespace

std::vector<Crossover> crossovers(const std::vector<SimRow>& rows) {
  std::vector<Crossover> found;
  const std::vector<const SimRow*>* before = nullptr;
  std::int64_t bytes_before = 0;
  const auto sizes = by_size(rows);
  for (const auto& [bytes, list] : sizes) {
    const std::string& best = quickest(list).algorithm;
    if (found.empty()) {
      found.push_back({bytes, best});
    } else if (best != found.back().algorithm) {
      // How far the old leader was ahead at the previous size, and is behind at this one, on logarithmic axes.
      const std::string& old = found.back().algorithm;
      const double ahead = std::log(seconds_of(*before, best) / seconds_of(*before, old));
      const double behind = std::log(seconds_of(list, old) / seconds_of(list, best));
      const double share = ahead + behind > 0 ? ahead / (ahead + behind) : 0;
      const double ratio = static_cast<double>(bytes) / static_cast<double>(bytes_before);
      found.push_back({std::llround(static_cast<double>(bytes_before) * std::pow(ratio, share)), best});
    }
    before = &list;
    bytes_before = bytes;
  }
  return found;
}

plot::Chart sweep_chart(const std::vector<SimRow>& rows, const SimNetwork& network) {
  if (rows.empty()) throw UsageError("a sweep without sizes: expected --min-bytes of at most --max-bytes");
  plot::Chart chart;
  chart.title =
      fmt::format("{} on {} simulated ranks ({}, {:g} µs, {:g} GB/s)", rows.front().collective, rows.front().ranks,
                  network.platform, network.latency_seconds * 1e6, network.bytes_per_second / 1e9);
  chart.x = {"bytes", true, plot::Unit::kBytes, {}};
  chart.y = {"simulated time", true, plot::Unit::kSeconds, {}};
  std::vector<std::string> names;
  for (const SimRow& row : rows) {
    if (!row.left_out.empty()) continue;
    auto series = std::find_if(chart.series.begin(), chart.series.end(),
                               [&](const plot::Series& one) { return one.name == row.algorithm; });
    if (series == chart.series.end()) {
      chart.series.emplace_back();
      series = chart.series.end() - 1;
      series->name = row.algorithm;
    }
    series->x.push_back(static_cast<double>(row.bytes));
    series->y.push_back(row.simulated_seconds);
  }
  const std::vector<Crossover> found = crossovers(rows);
  for (std::size_t i = 1; i < found.size(); ++i) {
    chart.markers.push_back(
        {static_cast<double>(found[i].bytes),
         fmt::format("{}: {}", describe_bytes(static_cast<std::uint64_t>(found[i].bytes)), found[i].algorithm)});
  }
  return chart;
}

std::string sweep_picture(const std::string& out_dir, const Collective& collective, int num_ranks) {
  return fmt::format("{}/sweep_{}_{}.png", out_dir, collective.name, num_ranks);
}

}  // namespace lab::a9
