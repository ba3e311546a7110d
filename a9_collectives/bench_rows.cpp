#include "a9_collectives/bench_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lab::a9 {
namespace {

std::string ratio_text(double ratio) {
  return ratio == 0 ? "-" : fmt::format("{:.2f}", ratio);
}

nlohmann::json ratio_json(double ratio) {
  return ratio == 0 ? nlohmann::json() : nlohmann::json(ratio);
}

}  // namespace

std::string bench_header() {
  return fmt::format(
      "{:>10} {:<14} {:<20} {:>10} {:>10} {:>10} {:>8} {:>8} {:>9} {:>11} {:>6} {:>6} {:>6} {:>6} {:>6}\n"
      "{:>10} {:<14} {:<20} {:>10} {:>10} {:>10} {:>8} {:>8} {:>9} {:>11} {:>6} {:>6} {:>6} {:>6} {:>6}",
      "bytes", "collective", "algorithm", "min", "median", "max", "algbw", "busbw", "messages", "bytes sent", "rounds",
      "/gloo", "/mpi", "/mpi", "#wrong", "", "", "* selected", "us", "us", "us", "GB/s", "GB/s", "per rank", "per rank",
      "", "", "tcp", "shm", "");
}

std::string bench_line(const BenchRow& row) {
  const bool peer = row.is_peer();
  const auto count = [peer](std::uint64_t value) { return peer ? "-" : fmt::format("{}", value); };
  return fmt::format(
      "{:>10} {:<14} {:<20} {:>10.1f} {:>10.1f} {:>10.1f} {:>8.3f} {:>8.3f} {:>9} {:>11} {:>6} {:>6} {:>6} {:>6} {:>6}",
      row.bytes, row.collective, (row.selected ? "* " : "  ") + row.algorithm, row.min_seconds * 1e6,
      row.median_seconds * 1e6, row.max_seconds * 1e6, row.algbw(), row.busbw(), count(row.messages),
      count(row.bytes_sent), count(row.rounds), peer ? "-" : ratio_text(row.ratio_to_gloo),
      peer ? "-" : ratio_text(row.ratio_to_mpi), peer ? "-" : ratio_text(row.ratio_to_mpi_shared), row.wrong);
}

std::string bench_json(const std::vector<BenchRow>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const BenchRow& row : rows) {
    list.push_back({{"collective", row.collective},
                    {"algorithm", row.algorithm},
                    {"selected", row.selected},
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
    row.bytes = json.at("bytes");
    row.ranks = json.at("ranks");
    row.min_seconds = json.at("min_seconds");
    row.median_seconds = json.at("median_seconds");
    row.max_seconds = json.at("max_seconds");
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

void add_peer_rows(std::vector<BenchRow>& rows, const std::vector<BenchRow>& peers, double BenchRow::*ratio) {
  for (const BenchRow& peer : peers) {
    const auto same_size = [&](const BenchRow& row) { return row.bytes == peer.bytes; };
    for (BenchRow& row : rows) {
      if (same_size(row) && !row.is_peer()) row.*ratio = row.median_seconds / peer.median_seconds;
    }
    const auto last = std::find_if(rows.rbegin(), rows.rend(), same_size);
    if (last != rows.rend()) rows.insert(last.base(), peer);
  }
}

}  // namespace lab::a9
