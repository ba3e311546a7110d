#include <fmt/format.h>

#include <cstdio>

#include "a9_collectives/commands/commands.h"
#include "a9_collectives/commands/sim.h"
#include "a9_collectives/two_level.h"
#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/plot/plot.h"
#include "common/tensor/compute_threads.h"

namespace lab::a9 {
namespace {

struct SimOptions {
  int num_ranks = 64;
  std::string collective = "allreduce";
  std::string algorithm = "all";
  std::int64_t bytes = 1 << 20;
  std::int64_t min_bytes = 1 << 10;
  std::int64_t max_bytes = 64 << 20;
  int factor = 4;
  double latency_microseconds = 10;
  double gigabytes_per_second = 1.25;
  comm::SimNetwork network;
  bool sweep = false;
  std::string out_dir = "out";
  std::string plot_file;
  std::string json_file;
};

/// Above this number of ranks, an algorithm that posts all its messages at once is not a fair comparison: the model
/// charges a rank nothing for having hundreds of messages in flight. (It is also slow to simulate.)
constexpr int kMostRanksForDirect = 32;

/// Joins the catalogue's where there are several hosts with several ranks each.
const Algorithm& two_level_allreduce() {
  static const Algorithm algorithm = {"two_level", allreduce_two_level, {}};
  return algorithm;
}

std::vector<const Algorithm*> list_algorithms(const SimOptions& options, const Collective& collective) {
  const bool has_two_levels = options.network.ranks_per_host > 1 && collective.name == "allreduce";
  if (has_two_levels && options.algorithm == two_level_allreduce().name) return {&two_level_allreduce()};
  if (options.algorithm != "all") return {&algorithm_named(collective, options.algorithm)};
  std::vector<const Algorithm*> all;
  for (const Algorithm& algorithm : collective.algorithms) all.push_back(&algorithm);
  if (has_two_levels) all.push_back(&two_level_allreduce());
  return all;
}

/// The row, or why it is left out of "all".
SimRow make_row(const SimOptions& options, const Collective& collective, const Algorithm& algorithm,
                std::int64_t bytes) {
  if (options.algorithm != "all" || algorithm.name != "direct" || options.num_ranks <= kMostRanksForDirect)
    return simulate(collective, algorithm, bytes, options.num_ranks, options.network);
  SimRow row = forecast(collective, algorithm, bytes, options.num_ranks, options.network);
  row.left_out =
      fmt::format("left out: {} messages at once from each rank; --algorithm direct runs it", options.num_ranks - 1);
  return row;
}

std::vector<std::int64_t> list_sizes(const SimOptions& options) {
  if (!options.sweep) return {options.bytes};
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= options.factor)
    sizes.push_back(bytes);
  return sizes;
}

void add_options(cli::App& app, SimOptions& options) {
  app.add_integer("--ranks", options.num_ranks, {2, 16384}, "simulated ranks");
  app.add_text("--collective", options.collective, "NAME", "the collective");
  app.add_text("--algorithm", options.algorithm, "NAME", "one algorithm, or all");
  app.add_bytes("--bytes", options.bytes, {1, std::int64_t{1} << 40}, "size, as nccl-tests counts it");
  app.add_choice("--platform", options.network.platform, comm::platform_names(), "the network");
  app.add_integer("--ranks-per-host", options.network.ranks_per_host, {1, 1024},
                  "ranks that share a host, with 1 us and 10 GB/s between them; on the star");
  app.add_number("--latency", options.latency_microseconds, {0, 1e6, "US"}, "alpha: microseconds of an empty message");
  app.add_number("--bandwidth", options.gigabytes_per_second, {0, 1e6, "GBS"}, "1/beta: gigabytes (1e9) a second");
  app.add_flag("--sweep", options.sweep, "all sizes from --min-bytes to --max-bytes, drawn as a picture");
  app.add_bytes("--min-bytes", options.min_bytes, {1, std::int64_t{1} << 40}, "smallest size of the sweep");
  app.add_bytes("--max-bytes", options.max_bytes, {1, std::int64_t{1} << 40}, "largest size of the sweep");
  app.add_integer("--factor", options.factor, {2, 1024}, "from one size of the sweep to the next");
  app.add_text("--out", options.out_dir, "DIR", "folder of the sweep's picture");
  app.add_text("--plot", options.plot_file, "FILE", "the sweep's picture (.png, .pdf, .svg) in another place");
  app.add_text("--json", options.json_file, "FILE", "the table as JSON");
}

ExitCode simulate_all(SimOptions options) {
  use_threads(1);
  options.network.latency_seconds = options.latency_microseconds * 1e-6;
  options.network.bytes_per_second = options.gigabytes_per_second * 1e9;
  const int per_host = options.network.ranks_per_host;
  if (options.num_ranks % per_host != 0 || options.num_ranks == per_host) {
    if (per_host > 1)
      throw UsageError(fmt::format("--ranks-per-host {}: expected several hosts with as many ranks each, got {} ranks",
                                   per_host, options.num_ranks));
  }
  const Collective& collective = collective_named(options.collective);
  const std::vector<const Algorithm*> algorithms = list_algorithms(options, collective);
  const std::string picture =
      options.plot_file.empty() ? sweep_picture(options.out_dir, collective, options.num_ranks) : options.plot_file;
  if (options.sweep) {
    if (options.plot_file.empty()) make_folder("--out", options.out_dir);
    plot::check_chart_name(picture);
  }

  std::vector<SimRow> rows;
  fmt::print("{}\n", sim_header());
  for (const std::int64_t bytes : list_sizes(options)) {
    for (const Algorithm* algorithm : algorithms) {
      rows.push_back(make_row(options, collective, *algorithm, bytes));
      const bool said_before = !rows.back().left_out.empty() && rows.size() > algorithms.size();
      if (!said_before) fmt::print("{}\n", sim_line(rows.back()));
      std::fflush(stdout);
    }
  }
  if (!options.json_file.empty()) write_file_atomically(options.json_file, sim_json(rows));
  if (options.sweep) {
    plot::draw(sweep_chart(rows, options.network), picture);
    for (const Crossover& crossover : crossovers(rows))
      fmt::print("from {} on: {}\n", describe_bytes(static_cast<std::uint64_t>(crossover.bytes)), crossover.algorithm);
    fmt::print("drawn: {}\n", picture);
  }
  return ExitCode::kAllMatch;
}

}  // namespace

void sim_command(cli::App& app) {
  auto& options = app.own(SimOptions());
  add_options(app, options);
  app.set_action([&] { return simulate_all(options); });
}

}  // namespace lab::a9
