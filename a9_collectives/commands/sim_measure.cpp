#include "a9_collectives/commands/sim_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/launch/run_ranks.h"

namespace lab::a9 {
namespace {

constexpr double kForever = 1e9;  // simulated seconds

/// `bytes` rounded down to a multiple of the number of ranks, at least one byte each.
std::int64_t shared_evenly(std::int64_t bytes, int num_ranks) {
  return std::max<std::int64_t>(bytes / num_ranks, 1) * num_ranks;
}

}  // namespace

SimRow forecast(const Collective& collective, const Algorithm& algorithm, std::int64_t bytes, int num_ranks,
                const SimNetwork& network) {
  SimRow row;
  row.collective = collective.name;
  row.algorithm = algorithm.name;
  row.bytes = shared_evenly(bytes, num_ranks);
  row.ranks = num_ranks;
  row.selected = collective.choose(row.bytes, num_ranks) == algorithm.name;
  row.formula_seconds = algorithm.cost(static_cast<double>(row.bytes), num_ranks)
                            .seconds(network.latency_seconds, 1 / network.bytes_per_second);
  return row;
}

SimRow simulate(const Collective& collective, const Algorithm& algorithm, std::int64_t bytes, int num_ranks,
                const SimNetwork& network) {
  SimRow row = forecast(collective, algorithm, bytes, num_ranks, network);
  WorldSpec spec;
  spec.kind = WorldKind::kSim;
  spec.num_ranks = num_ranks;
  spec.timeout_seconds = kForever;
  spec.network = network;
  const std::int64_t input_bytes = collective.input_elements(row.bytes, num_ranks);
  const WorldOutcome outcome = run_ranks(spec, [&](Communicator& comm) {
    const at::Tensor input = at::empty({input_bytes}, at::TensorOptions(at::kMeta).dtype(at::kByte));
    algorithm.run(input, comm.point_to_point());
    return TensorMap{{"seconds", at::tensor(comm.endpoint().transport().now(), at::kDouble)}};
  });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  for (const RankOutcome& rank : outcome.ranks) {
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
      "* selected", "", "", "", "", "in all", "per rank", "");
}

std::string sim_line(const SimRow& row) {
  const std::string start = fmt::format("{:<14} {:<20} {:>10} {:>6}", row.collective,
                                        (row.selected ? "* " : "  ") + row.algorithm, row.bytes, row.ranks);
  if (!row.left_out.empty())
    return fmt::format("{} {:>14} {:>14.3f} {}", start, "-", row.formula_seconds * 1e6, row.left_out);
  return fmt::format("{} {:>14.3f} {:>14.3f} {:>10} {:>13} {:>7}", start, row.simulated_seconds * 1e6,
                     row.formula_seconds * 1e6, row.messages, row.bytes_sent, row.rounds);
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

}  // namespace lab::a9
