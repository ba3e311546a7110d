#include "a9_collectives/bench_command.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "a9_collectives/bench_measure.h"
#include "a9_collectives/bench_mpi_run.h"
#include "a9_collectives/bench_options.h"
#include "a9_collectives/bench_plot.h"
#include "a9_collectives/bench_summary.h"
#include "common/bench/machine_load.h"
#include "common/launch/run_directory.h"
#include "common/launch/run_ranks.h"
#include "common/report/atomic_file.h"
#include "common/report/plot.h"

namespace lab::a9 {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Ours and Gloo's, by ranks in processes of their own; rank 0 leaves the rows in a file.
std::vector<BenchRow> measured_rows(const BenchOptions& options, const Collective& collective) {
  const RunDirectory directory;
  const std::string rows_file = directory.path() + "/rows.json";
  WorldSpec spec;
  spec.kind = WorldKind::kProcesses;
  spec.num_ranks = options.num_ranks;
  spec.timeout_seconds = 120;
  spec.careful = false;
  const auto on_rank = [&](Communicator& comm, RankOutcome&) {
    GlooPeers gloo(directory.path(), comm.rank(), comm.size());
    std::vector<BenchRow> rows;
    for (const std::int64_t bytes : options.sizes()) {
      const auto of_size = measure(collective, {bytes, options.turns, options.selected_only}, comm, gloo);
      rows.insert(rows.end(), of_size.begin(), of_size.end());
    }
    if (comm.rank() == 0) write_file_atomically(rows_file, bench_json(rows));
  };
  const WorldOutcome outcome = run_ranks(spec, RankBody(on_rank));
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->sentence);
  std::ifstream file(rows_file);
  return rows_of_json(std::string(std::istreambuf_iterator<char>(file), {}));
}

/// One collective's part of the table.
std::vector<BenchRow> bench(const BenchOptions& options, const Collective& collective,
                            const std::vector<MpiWay>& mpi_ways) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<BenchRow> rows = measured_rows(options, collective);
  // A peer's run is one contender's, ours that of several: one that takes ten times as long hangs.
  const MpiJob job{&collective, options.sizes(), options.num_ranks, options.turns, 60 + 10 * seconds_since(start)};
  for (const MpiWay& way : mpi_ways) {
    const MpiOutcome outcome = run_mpi(way, job);
    if (!outcome.failure.empty())
      fmt::print("peer {} is left out of {}: {}\n", way.name, collective.name, outcome.failure);
    add_peer_rows(rows, outcome.rows, way.ratio);
  }
  for (const BenchRow& row : rows) fmt::print("{}\n", bench_line(row));
  std::fflush(stdout);
  return rows;
}

}  // namespace

ExitCode bench_command(int argc, char** argv) {
  at::set_num_threads(1);
  BenchOptions options;
  if (const auto done = parse_bench_options(argc, argv, options)) return *done;

  const MachineLoad load;
  UsableMpi mpi;
  if (options.no_mpi) {
    mpi.lines.push_back("peer MPI is left out: --no-mpi");
  } else {
    mpi = usable_mpi(options.num_ranks);
  }
  for (const std::string& line : mpi.lines) fmt::print("{}\n", line);
  fmt::print("{}\n", bench_header());
  std::fflush(stdout);

  std::vector<BenchRow> all;
  bool wrong = false;
  for (const Collective* collective : options.collectives()) {
    const std::vector<BenchRow> rows = bench(options, *collective, mpi.ways);
    if (!options.plot_file.empty()) plot::draw(bench_chart(rows), options.picture_of(*collective));
    for (const BenchRow& row : rows) wrong = wrong || row.wrong > 0;
    all.insert(all.end(), rows.begin(), rows.end());
  }
  if (!options.json_file.empty()) write_file_atomically(options.json_file, bench_json(all));
  for (const std::string& line : summary_lines(all)) fmt::print("{}\n", line);
  fmt::print("{}\n", load.report());
  return wrong ? ExitCode::kMismatch : ExitCode::kAllMatch;
}

}  // namespace lab::a9
