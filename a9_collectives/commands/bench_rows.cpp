#include <fmt/format.h>

#include "a9_collectives/commands/bench.h"

namespace lab::a9 {

std::string bench_header() {
  return fmt::format(
      "{:>10} {:<14} {:<20} {:>10} {:>10} {:>10} {:>8} {:>8} {:>9} {:>11} {:>6} {:>6}\n"
      "{:>10} {:<14} {:<20} {:>10} {:>10} {:>10} {:>8} {:>8} {:>9} {:>11}",
      "bytes", "collective", "algorithm", "min", "median", "max", "algbw", "busbw", "messages", "bytes sent", "rounds",
      "#wrong", "", "", "* selected", "us", "us", "us", "GB/s", "GB/s", "per rank", "per rank");
}

std::string bench_line(const BenchRow& row) {
  return fmt::format("{:>10} {:<14} {:<20} {:>10.1f} {:>10.1f} {:>10.1f} {:>8.3f} {:>8.3f} {:>9} {:>11} {:>6} {:>6}",
                     row.bytes, row.collective, (row.selected ? "* " : "  ") + row.algorithm, row.min_seconds * 1e6,
                     row.median_seconds * 1e6, row.max_seconds * 1e6, row.algbw(), row.busbw(), row.messages,
                     row.bytes_sent, row.rounds, row.wrong);
}

std::string bench_json(const std::vector<BenchRow>& rows) {
  nlohmann::json list = rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    list[i].erase("bus_factor");
    list[i]["algbw"] = rows[i].algbw();
    list[i]["busbw"] = rows[i].busbw();
  }
  return list.dump(1) + "\n";
}

}  // namespace lab::a9
