#include "a9_collectives/bench_plot.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/report/byte_count.h"
#include "common/report/counted.h"
#include "common/report/errors.h"

namespace lab::a9 {
namespace {

/// Every picture has these in this order and in the same colours, whoever of them is there.
constexpr const char* kPeers[] = {"mpi tcp", "mpi shared memory", "gloo", "gloo batch"};

plot::Series& series_named(plot::Chart& chart, const std::string& name) {
  const auto found = std::find_if(chart.series.begin(), chart.series.end(),
                                  [&](const plot::Series& series) { return series.name == name; });
  if (found != chart.series.end()) return *found;
  plot::Series series;
  series.name = name;
  series.dashed = !chart.series.empty();
  series.colour = plot::colour(static_cast<int>(chart.series.size()));
  chart.series.push_back(series);
  return chart.series.back();
}

}  // namespace

plot::Chart bench_chart(const std::vector<BenchRow>& rows) {
  if (rows.empty()) throw UsageError("a benchmark without rows cannot be drawn");
  const std::string ours = "my_" + rows.front().collective;
  plot::Chart chart;
  chart.title = fmt::format("{} on {} of one machine", rows.front().collective, counted(rows.front().ranks, "rank"));
  chart.x = {"bytes", true, plot::Unit::kBytes, {}};
  chart.y = {"bus bandwidth, GB/s", true, plot::Unit::kPlain, {}};
  series_named(chart, ours);
  for (const char* peer : kPeers) series_named(chart, peer);
  std::string picked;
  for (const BenchRow& row : rows) {
    if (!row.selected && !row.is_peer()) continue;
    plot::Series& series = series_named(chart, row.selected ? ours : row.algorithm);
    series.x.push_back(static_cast<double>(row.bytes));
    series.y.push_back(row.busbw());
    if (!row.selected || row.algorithm == picked) continue;
    const std::string size = picked.empty() ? "" : describe_bytes(static_cast<std::uint64_t>(row.bytes)) + ": ";
    picked = row.algorithm;
    chart.markers.push_back({static_cast<double>(row.bytes), size + picked});
  }
  const auto absent = [](const plot::Series& series) { return series.x.empty(); };
  chart.series.erase(std::remove_if(chart.series.begin(), chart.series.end(), absent), chart.series.end());
  return chart;
}

}  // namespace lab::a9
