#include "a9_collectives/bench_summary.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "common/report/byte_count.h"

namespace lab::a9 {

RatioSummary summarise(const std::vector<BenchRow>& rows, double BenchRow::*ratio, const SizeBand& band) {
  RatioSummary summary;
  double sum_of_logs = 0;
  for (const BenchRow& row : rows) {
    const std::int64_t most_lost = 4 * row.ranks - 1;  // by rounding down
    if (!row.selected || row.*ratio <= 0) continue;
    if (row.bytes < band.min_bytes - most_lost || row.bytes > band.max_bytes) continue;
    if (summary.num_cells == 0 || row.*ratio > summary.worst.*ratio) summary.worst = row;
    sum_of_logs += std::log(row.*ratio);
    ++summary.num_cells;
  }
  if (summary.num_cells > 0) summary.geometric_mean = std::exp(sum_of_logs / summary.num_cells);
  return summary;
}

std::vector<std::string> summary_lines(const std::vector<BenchRow>& rows) {
  struct Line {
    const char* name;
    double BenchRow::*ratio;
    SizeBand band;
  };
  const Line all[] = {{"gloo", &BenchRow::ratio_to_gloo, {0, std::numeric_limits<std::int64_t>::max()}},
                      {"mpi tcp, 256 KiB to 4 MiB", &BenchRow::ratio_to_mpi, {256 << 10, 4 << 20}},
                      {"mpi tcp, 64 MiB", &BenchRow::ratio_to_mpi, {64 << 20, 64 << 20}}};
  std::vector<std::string> lines;
  for (const Line& line : all) {
    const RatioSummary summary = summarise(rows, line.ratio, line.band);
    if (summary.num_cells == 0) continue;
    const BenchRow& worst = summary.worst;
    lines.push_back(fmt::format("selected / {:<25}  geometric mean {:.2f} of {} cell{}; worst {:.2f}: {} of {}, {}",
                                line.name, summary.geometric_mean, summary.num_cells, summary.num_cells == 1 ? "" : "s",
                                worst.*line.ratio, worst.collective,
                                describe_bytes(static_cast<std::uint64_t>(worst.bytes)), worst.algorithm));
  }
  return lines;
}

}  // namespace lab::a9
