#include "common/bench/collective_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/base/numbers.h"
#include "common/base/text.h"

namespace lab {
namespace {

/// One row of ours by the peer's of the same collective and size; 0: there is none.
double compute_ratio(const std::vector<CollectiveRow>& rows, const CollectiveRow& ours, const std::string& peer,
                     double CollectiveRow::*seconds) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const CollectiveRow& other) {
    return other.contender == peer && other.collective == ours.collective && other.bytes == ours.bytes;
  });
  return found == rows.end() ? 0.0 : ours.*seconds / (*found).*seconds;
}

}  // namespace

const std::vector<std::string>& collective_names() {
  static const std::vector<std::string> names = {"broadcast", "allreduce", "allgather", "reduce_scatter", "all_to_all"};
  return names;
}

double bus_factor(const std::string& collective, int num_ranks) {
  const double others = static_cast<double>(num_ranks - 1) / num_ranks;
  return collective == "broadcast" ? 1 : collective == "allreduce" ? 2 * others : others;
}

std::int64_t bytes_to_get(const std::string& collective, std::int64_t bytes, int rank, int size) {
  if (collective == "broadcast" && rank == 0) return 0;
  return std::llround(bus_factor(collective, size) * static_cast<double>(bytes));
}

std::vector<std::string> summary_lines(const std::vector<CollectiveRow>& rows) {
  struct Line {
    std::string peer, cells;
    SizeBand band;
    double CollectiveRow::*seconds = &CollectiveRow::median_seconds;
  };
  const SizeBand all_sizes = {0, std::numeric_limits<std::int64_t>::max()};
  const SizeBand from_64_kib = {64 << 10, all_sizes.max_bytes};
  std::vector<Line> all = {{"gloo", "", all_sizes},
                           {"mpi tcp", "", all_sizes},
                           {"mpi tcp", ", 256 KiB to 4 MiB", {256 << 10, 4 << 20}},
                           {"mpi tcp", ", 64 MiB", {64 << 20, 64 << 20}},
                           {"mpi shared memory", ", 1 KiB", {1 << 10, 1 << 10}},
                           {"mpi shared memory", ", from 64 KiB", from_64_kib},
                           {"python", "", all_sizes},
                           {kCopies, ", from 64 KiB", from_64_kib}};
  for (const char* peer : {"gloo", "mpi tcp", "mpi shared memory"})
    all.push_back({peer, ", broadcast alone", all_sizes, &CollectiveRow::alone_seconds});
  std::vector<std::string> lines;
  for (const Line& line : all) {
    int num_cells = 0, num_slower = 0;
    double sum_of_logs = 0, worst_ratio = 0;
    const CollectiveRow* worst = nullptr;
    for (const CollectiveRow& row : rows) {
      const std::int64_t most_lost = 4 * row.ranks - 1;  // by rounding down
      if (!row.is_ours() || row.bytes < line.band.min_bytes - most_lost || row.bytes > line.band.max_bytes) continue;
      if (line.seconds == &CollectiveRow::alone_seconds && row.collective != "broadcast") continue;
      const double ratio = compute_ratio(rows, row, line.peer, line.seconds);
      if (ratio <= 0) continue;
      sum_of_logs += std::log(ratio);
      ++num_cells;
      num_slower += ratio > 1 ? 1 : 0;
      if (ratio > worst_ratio) {
        worst_ratio = ratio;
        worst = &row;
      }
    }
    if (num_cells == 0) continue;
    lines.push_back(fmt::format("ours / {:<34}  geometric mean {:.2f} of {}, {} above 1; worst {:.2f}: {} of {}",
                                line.peer + line.cells, std::exp(sum_of_logs / num_cells), counted(num_cells, "cell"),
                                num_slower, worst_ratio, worst->collective,
                                describe_bytes(static_cast<std::uint64_t>(worst->bytes))));
  }
  return lines;
}

std::string collective_header() {
  return fmt::format(
      "{:>10} {:<14} {:<17} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8} {:>6}\n"
      "{:>10} {:<14} {:<17} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8}",
      "bytes", "collective", "contender", "min", "median", "max", "alone", "algbw", "busbw", "switches", "#wrong", "",
      "", "", "us", "us", "us", "us", "GB/s", "GB/s", "per rank");
}

std::string collective_line(const CollectiveRow& row) {
  return fmt::format("{:>10} {:<14} {:<17} {:>10.1f} {:>10.1f} {:>10.1f} {:>10.1f} {:>8.3f} {:>8.3f} {:>8.2f} {:>6}",
                     row.bytes, row.collective, row.contender, row.min_seconds * 1e6, row.median_seconds * 1e6,
                     row.max_seconds * 1e6, row.alone_seconds * 1e6, row.algbw(), row.busbw(), row.context_switches,
                     row.wrong);
}

std::string collective_json(const std::vector<CollectiveRow>& rows) {
  nlohmann::json list = rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    list[i].erase("bus_factor");
    list[i]["algbw"] = rows[i].algbw();
    list[i]["busbw"] = rows[i].busbw();
  }
  return list.dump(1) + "\n";
}

}  // namespace lab
