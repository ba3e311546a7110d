#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "a9_collectives/commands/sim.h"
#include "common/api/errors.h"
#include "common/base/numbers.h"
#include "common/comm/messages/get_endpoint.h"
#include "common/launch/run_ranks.h"

namespace lab::a9 {
namespace {

constexpr double kForever = 1e9;  // simulated seconds

/// `bytes` rounded down to a multiple of the number of ranks, at least one byte each.
std::int64_t shared_evenly(std::int64_t bytes, int num_ranks) {
  return std::max<std::int64_t>(bytes / num_ranks, 1) * num_ranks;
}

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

double find_seconds(const std::vector<const SimRow*>& rows, const std::string& algorithm) {
  for (const SimRow* row : rows) {
    if (row->algorithm == algorithm) return row->simulated_seconds;
  }
  return std::nan("");
}

/// "-": the formula is not for this network.
std::string formula_text(const SimRow& row) {
  return std::isnan(row.formula_seconds) ? "-" : fmt::format("{:.3f}", row.formula_seconds * 1e6);
}

}  // namespace

SimRow forecast(const Collective& collective, const Algorithm& algorithm, std::int64_t bytes, int num_ranks,
                const comm::SimNetwork& network) {
  SimRow row;
  row.collective = collective.name;
  row.algorithm = algorithm.name;
  row.bytes = shared_evenly(bytes, num_ranks);
  row.ranks = num_ranks;
  row.selected = collective.choose(row.bytes, num_ranks) == algorithm.name;
  row.formula_seconds = network.ranks_per_host > 1
                            ? std::nan("")
                            : algorithm.cost(static_cast<double>(row.bytes), num_ranks)
                                  .seconds(network.latency_seconds, 1 / network.bytes_per_second);
  return row;
}

SimRow simulate(const Collective& collective, const Algorithm& algorithm, std::int64_t bytes, int num_ranks,
                const comm::SimNetwork& network) {
  SimRow row = forecast(collective, algorithm, bytes, num_ranks, network);
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kSim;
  spec.num_ranks = num_ranks;
  spec.timeout_seconds = kForever;
  spec.network = network;
  const std::int64_t input_bytes = collective.input_elements(row.bytes, num_ranks);
  const launch::WorldOutcome outcome = launch::run_ranks(spec, [&](Communicator& comm) {
    const at::Tensor input = at::empty({input_bytes}, at::TensorOptions(at::kMeta).dtype(at::kByte));
    algorithm.run(input, comm.point_to_point());
    return TensorMap{{"seconds", at::tensor(get_endpoint(comm).transport().now(), at::kDouble)}};
  });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  for (const launch::RankOutcome& rank : outcome.ranks) {
    row.simulated_seconds = std::max(row.simulated_seconds, rank.tensors.at("seconds").item().toDouble());
    for (const LedgerEntry& entry : rank.report.ledger) {
      row.messages += entry.messages;
      row.bytes_sent = std::max(row.bytes_sent, entry.bytes_sent);
      row.rounds = std::max(row.rounds, entry.rounds);
    }
  }
  return row;
}

std::string sim_header() {
  return fmt::format(
      "{:<14} {:<20} {:>10} {:>6} {:>14} {:>14} {:>10} {:>13} {:>7}\n"
      "{:<14} {:<20} {:>10} {:>6} {:>14} {:>14} {:>10} {:>13} {:>7}",
      "collective", "algorithm", "bytes", "ranks", "simulated us", "formula us", "messages", "bytes sent", "rounds", "",
      "* by choose_...()", "", "", "", "", "in all", "per rank", "");
}

std::string sim_line(const SimRow& row) {
  const std::string start = fmt::format("{:<14} {:<20} {:>10} {:>6}", row.collective,
                                        (row.selected ? "* " : "  ") + row.algorithm, row.bytes, row.ranks);
  if (!row.left_out.empty()) return fmt::format("{} {:>14} {:>14} {}", start, "-", formula_text(row), row.left_out);
  return fmt::format("{} {:>14.3f} {:>14} {:>10} {:>13} {:>7}", start, row.simulated_seconds * 1e6, formula_text(row),
                     row.messages, row.bytes_sent, row.rounds);
}

std::string sim_json(const std::vector<SimRow>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const SimRow& row : rows) {
    if (!row.left_out.empty()) continue;
    list.push_back({{"collective", row.collective},
                    {"algorithm", row.algorithm},
                    {"selected", row.selected},
                    {"bytes", row.bytes},
                    {"ranks", row.ranks},
                    {"simulated_seconds", row.simulated_seconds},
                    {"formula_seconds", row.formula_seconds},
                    {"messages", row.messages},
                    {"bytes_sent", row.bytes_sent},
                    {"rounds", row.rounds}});
  }
  return list.dump(1) + "\n";
}

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
      const double ahead = std::log(find_seconds(*before, best) / find_seconds(*before, old));
      const double behind = std::log(find_seconds(list, old) / find_seconds(list, best));
      const double share = ahead + behind > 0 ? ahead / (ahead + behind) : 0;
      const double ratio = static_cast<double>(bytes) / static_cast<double>(bytes_before);
      found.push_back({std::llround(static_cast<double>(bytes_before) * std::pow(ratio, share)), best});
    }
    before = &list;
    bytes_before = bytes;
  }
  return found;
}

plot::Chart sweep_chart(const std::vector<SimRow>& rows, const comm::SimNetwork& network) {
  if (rows.empty()) throw UsageError("a sweep without sizes: expected --min-bytes of at most --max-bytes");
  plot::Chart chart;
  chart.title =
      fmt::format("{} on {} simulated ranks ({}, {:g} µs, {:g} GB/s)", rows.front().collective, rows.front().ranks,
                  network.platform, network.latency_seconds * 1e6, network.bytes_per_second / 1e9);
  if (network.ranks_per_host > 1) chart.title += fmt::format(", {} to a host", network.ranks_per_host);
  chart.x = {"bytes", true, plot::Unit::kBytes};
  chart.y = {"simulated time", true, plot::Unit::kSeconds};
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
