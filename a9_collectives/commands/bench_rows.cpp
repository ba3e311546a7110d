#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "a9_collectives/commands/bench.h"
#include "common/base/errors.h"
#include "common/base/numbers.h"
#include "common/base/text.h"

namespace lab::a9 {
namespace {

/// Every picture has these in this order and in the same colours, even if some are missing.
constexpr const char* kPeers[] = {"mpi tcp", "mpi shared memory", "gloo", "gloo batch", "python", kCopies};

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

std::string ratio_text(double ratio) {
  return ratio == 0 ? "-" : fmt::format("{:.2f}", ratio);
}

nlohmann::json ratio_json(double ratio) {
  return ratio == 0 ? nlohmann::json() : nlohmann::json(ratio);
}

}  // namespace

std::string chart_file(const std::string& plot_file, const std::string& collective) {
  std::filesystem::path path(plot_file);
  path.replace_filename(path.stem().string() + "_" + collective + path.extension().string());
  return path.string();
}

std::int64_t bytes_to_get(const Collective& collective, std::int64_t bytes, int rank, int size) {
  if (collective.name == "broadcast" && rank == 0) return 0;
  return std::llround(collective.bus_factor(size) * static_cast<double>(bytes));
}

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

RatioSummary summarise(const std::vector<BenchRow>& rows, const RatioOf& ratio, const SizeBand& band) {
  RatioSummary summary;
  double sum_of_logs = 0;
  for (const BenchRow& row : rows) {
    const std::int64_t most_lost = 4 * row.ranks - 1;  // by rounding down
    if (!row.selected || ratio(row) <= 0) continue;
    if (row.bytes < band.min_bytes - most_lost || row.bytes > band.max_bytes) continue;
    if (summary.num_cells == 0 || ratio(row) > ratio(summary.worst)) summary.worst = row;
    sum_of_logs += std::log(ratio(row));
    ++summary.num_cells;
    summary.num_slower += ratio(row) > 1 ? 1 : 0;
  }
  if (summary.num_cells > 0) summary.geometric_mean = std::exp(sum_of_logs / summary.num_cells);
  return summary;
}

std::vector<std::string> summary_lines(const std::vector<BenchRow>& rows) {
  struct Line {
    std::string name;
    RatioOf ratio;
    SizeBand band;
  };
  const SizeBand all_sizes = {0, std::numeric_limits<std::int64_t>::max()};
  const SizeBand from_64_kib = {64 << 10, all_sizes.max_bytes};
  std::vector<Line> all = {{"gloo", &BenchRow::ratio_to_gloo, all_sizes},
                           {"mpi tcp", &BenchRow::ratio_to_mpi, all_sizes},
                           {"mpi tcp, 256 KiB to 4 MiB", &BenchRow::ratio_to_mpi, {256 << 10, 4 << 20}},
                           {"mpi tcp, 64 MiB", &BenchRow::ratio_to_mpi, {64 << 20, 64 << 20}},
                           {"mpi shared memory, 1 KiB", &BenchRow::ratio_to_mpi_shared, {1 << 10, 1 << 10}},
                           {"mpi shared memory, from 64 KiB", &BenchRow::ratio_to_mpi_shared, from_64_kib}};
  const auto to_peer = [&rows](const std::string& peer, double BenchRow::*seconds) {
    return [&rows, peer, seconds](const BenchRow& row) {
      const auto found = std::find_if(rows.begin(), rows.end(), [&](const BenchRow& other) {
        return other.algorithm == peer && other.collective == row.collective && other.bytes == row.bytes;
      });
      return found == rows.end() ? 0.0 : row.*seconds / (*found).*seconds;
    };
  };
  all.push_back({"python", to_peer("python", &BenchRow::median_seconds), all_sizes});
  all.push_back({fmt::format("{}, from 64 KiB", kCopies), to_peer(kCopies, &BenchRow::median_seconds), from_64_kib});
  for (const char* peer : {"gloo", "mpi tcp", "mpi shared memory"}) {
    const auto ratio = [of = to_peer(peer, &BenchRow::alone_seconds)](const BenchRow& row) {
      return row.collective == "broadcast" ? of(row) : 0.0;
    };
    all.push_back({fmt::format("{}, broadcast alone", peer), ratio, all_sizes});
  }
  std::vector<std::string> lines;
  for (const Line& line : all) {
    const RatioSummary summary = summarise(rows, line.ratio, line.band);
    if (summary.num_cells == 0) continue;
    const BenchRow& worst = summary.worst;
    lines.push_back(
        fmt::format("selected / {:<34}  geometric mean {:.2f} of {}, {} above 1; worst {:.2f}: {} of {}, {}", line.name,
                    summary.geometric_mean, counted(summary.num_cells, "cell"), summary.num_slower, line.ratio(worst),
                    worst.collective, describe_bytes(static_cast<std::uint64_t>(worst.bytes)), worst.algorithm));
  }
  return lines;
}

std::string bench_header() {
  return fmt::format(
      "{:>10} {:<14} {:<20} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8} {:>9} {:>11} {:>6} {:>6} {:>6} {:>6} {:>6}\n"
      "{:>10} {:<14} {:<20} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8} {:>9} {:>11} {:>6} {:>6} {:>6} {:>6} {:>6}",
      "bytes", "collective", "algorithm", "min", "median", "max", "alone", "algbw", "busbw", "switches", "messages",
      "bytes sent", "rounds", "/gloo", "/mpi", "/mpi", "#wrong", "", "", "* selected", "us", "us", "us", "us", "GB/s",
      "GB/s", "per rank", "per rank", "per rank", "", "", "tcp", "shm", "");
}

std::string bench_line(const BenchRow& row) {
  const bool peer = row.is_peer();
  const auto count = [peer](std::uint64_t value) { return peer ? "-" : fmt::format("{}", value); };
  return fmt::format(
      "{:>10} {:<14} {:<20} {:>10.1f} {:>10.1f} {:>10.1f} {:>10.1f} {:>8.3f} {:>8.3f} {:>8.2f} {:>9} {:>11} {:>6} "
      "{:>6} "
      "{:>6} {:>6} {:>6}",
      row.bytes, row.collective, (row.selected ? "* " : "  ") + row.algorithm, row.min_seconds * 1e6,
      row.median_seconds * 1e6, row.max_seconds * 1e6, row.alone_seconds * 1e6, row.algbw(), row.busbw(), row.switches,
      count(row.messages), count(row.bytes_sent), count(row.rounds), peer ? "-" : ratio_text(row.ratio_to_gloo),
      peer ? "-" : ratio_text(row.ratio_to_mpi), peer ? "-" : ratio_text(row.ratio_to_mpi_shared), row.wrong);
}

std::string bench_json(const std::vector<BenchRow>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const BenchRow& row : rows) {
    list.push_back({{"collective", row.collective},
                    {"algorithm", row.algorithm},
                    {"selected", row.selected},
                    {"transport", row.transport},
                    {"bytes", row.bytes},
                    {"ranks", row.ranks},
                    {"min_seconds", row.min_seconds},
                    {"median_seconds", row.median_seconds},
                    {"max_seconds", row.max_seconds},
                    {"alone_seconds", row.alone_seconds},
                    {"context_switches", row.switches},
                    {"algbw", row.algbw()},
                    {"busbw", row.busbw()},
                    {"messages", row.messages},
                    {"bytes_sent", row.bytes_sent},
                    {"rounds", row.rounds},
                    {"ratio_to_gloo", ratio_json(row.ratio_to_gloo)},
                    {"ratio_to_mpi", ratio_json(row.ratio_to_mpi)},
                    {"ratio_to_mpi_shared_memory", ratio_json(row.ratio_to_mpi_shared)},
                    {"wrong", row.wrong}});
  }
  return list.dump(1) + "\n";
}

std::vector<BenchRow> rows_of_json(const std::string& text) {
  const auto ratio = [](const nlohmann::json& json) { return json.is_null() ? 0.0 : json.get<double>(); };
  std::vector<BenchRow> rows;
  for (const nlohmann::json& json : nlohmann::json::parse(text)) {
    BenchRow row;
    row.collective = json.at("collective");
    row.algorithm = json.at("algorithm");
    row.selected = json.at("selected");
    row.transport = json.at("transport");
    row.bytes = json.at("bytes");
    row.ranks = json.at("ranks");
    row.min_seconds = json.at("min_seconds");
    row.median_seconds = json.at("median_seconds");
    row.max_seconds = json.at("max_seconds");
    row.alone_seconds = json.at("alone_seconds");
    row.switches = json.at("context_switches");
    row.bus_factor = json.at("busbw").get<double>() / json.at("algbw").get<double>();
    row.messages = json.at("messages");
    row.bytes_sent = json.at("bytes_sent");
    row.rounds = json.at("rounds");
    row.ratio_to_gloo = ratio(json.at("ratio_to_gloo"));
    row.ratio_to_mpi = ratio(json.at("ratio_to_mpi"));
    row.ratio_to_mpi_shared = ratio(json.at("ratio_to_mpi_shared_memory"));
    row.wrong = json.at("wrong");
    rows.push_back(row);
  }
  return rows;
}

void set_ratios(std::vector<BenchRow>& rows, const std::string& peer, double BenchRow::*ratio) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const BenchRow& row) { return row.algorithm == peer; });
  if (found == rows.end()) return;
  const double seconds = found->median_seconds;
  for (BenchRow& row : rows) {
    if (!row.is_peer()) row.*ratio = row.median_seconds / seconds;
  }
}

}  // namespace lab::a9
