#include <fmt/format.h>

#include <nlohmann/json.hpp>

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
                    {"algbw", row.algbw()},
                    {"busbw", row.busbw()},
                    {"messages", row.messages},
                    {"bytes_sent", row.bytes_sent},
                    {"rounds", row.rounds},
                    {"wrong", row.wrong}});
  }
  return list.dump(1) + "\n";
}

std::vector<BenchRow> rows_of_json(const std::string& text) {
  std::vector<BenchRow> rows;
  for (const nlohmann::json& json : nlohmann::json::parse(text)) {
    BenchRow& row = rows.emplace_back();
    row.collective = json.at("collective");
    row.algorithm = json.at("algorithm");
    row.selected = json.at("selected");
    row.transport = json.at("transport");
    row.bytes = json.at("bytes");
    row.ranks = json.at("ranks");
    row.min_seconds = json.at("min_seconds");
    row.median_seconds = json.at("median_seconds");
    row.max_seconds = json.at("max_seconds");
    row.bus_factor = json.at("busbw").get<double>() / json.at("algbw").get<double>();
    row.messages = json.at("messages");
    row.bytes_sent = json.at("bytes_sent");
    row.rounds = json.at("rounds");
    row.wrong = json.at("wrong");
  }
  return rows;
}

}  // namespace lab::a9
