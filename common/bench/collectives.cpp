#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/base/text.h"
#include "common/bench/bench_blocks.h"
#include "common/bench/collective_measure.h"
#include "common/bench/machine_load.h"
#include "common/cli/app.h"
#include "common/cli/guarded_main.h"
#include "common/tensor/compute_threads.h"

// This suite's collectives on real processes, compared with Gloo's, Open MPI's and Python's, alternating within one run.
namespace lab {
namespace {

struct BenchOptions {
  int num_ranks = 4;
  std::string collective = "all";
  std::string transport = "gloo";
  SizeSteps steps;
  int turns = 11;
  bool no_mpi = false, no_python = false;
  std::string json_file;
};

/// One collective's part of the table.
std::vector<CollectiveRow> bench(const CollectiveRun& run, const std::string& collective,
                                 const std::vector<PeerLibrary>& peers) {
  const std::vector<CollectiveRow> rows = measured_rows(run, collective, peers);
  for (const CollectiveRow& row : rows) fmt::print("{}\n", collective_line(row));
  for (const PeerLibrary& peer : peers) {
    const auto is_its = [&](const CollectiveRow& row) { return row.contender == peer.name; };
    const auto num_rows = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_its));
    if (num_rows == run.sizes.size()) continue;
    fmt::print("peer {} is left out of {} after {}: its ranks ended, or a block took them over {} s\n", peer.name,
               collective, counted(num_rows, "size"), kTwinSeconds);
  }
  std::fflush(stdout);
  return rows;
}

ExitCode bench_all(const BenchOptions& options) {
  use_threads(1);
  check_steps(options.steps);
  if (!options.json_file.empty()) const AtomicFile never_committed(options.json_file);
  const MachineLoad load;
  const UsablePeers usable = usable_peers(options.num_ranks, options.no_mpi, options.no_python);
  for (const std::string& line : usable.lines) fmt::print("{}\n", line);
  fmt::print("{}\n", collective_header());
  std::fflush(stdout);

  const CollectiveRun run{options.num_ranks, options.transport, bench_sizes(options.steps, options.num_ranks),
                          options.turns};
  std::vector<CollectiveRow> all;
  for (const std::string& collective : collective_names()) {
    if (options.collective != "all" && options.collective != collective) continue;
    const std::vector<CollectiveRow> rows = bench(run, collective, usable.peers);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  if (!options.json_file.empty()) write_file_atomically(options.json_file, collective_json(all));
  for (const std::string& line : summary_lines(all)) fmt::print("{}\n", line);
  fmt::print("{}\n", load.report());
  const bool wrong = std::any_of(all.begin(), all.end(), [](const CollectiveRow& row) { return row.wrong > 0; });
  return wrong ? ExitCode::kMismatch : ExitCode::kAllMatch;
}

ExitCode run(int argc, char** argv) {
  cli::App app("bench_collectives",
               "This suite's collectives on real processes, compared with Gloo's, Open MPI's and Python's.");
  BenchOptions options;
  std::vector<std::string> choices = collective_names();
  choices.push_back(options.collective);
  app.add_integer("--nproc", options.num_ranks, {2, 64}, "ranks");
  app.add_choice("--collective", options.collective, choices, "one collective, or all");
  app.add_transport(options.transport, "of ours, not of the peers");
  add_steps(app, options.steps);
  app.add_integer("--turns", options.turns, {1, 1000}, "blocks of each contender; the median counts");
  app.add_flag("--no-mpi", options.no_mpi, "leave out Open MPI");
  app.add_flag("--no-python", options.no_python, "leave out Python: torch.distributed's send and recv");
  app.add_text("--json", options.json_file, "FILE", "the table as JSON");
  if (const auto done = app.parse(argc, argv)) return *done;
  return bench_all(options);
}

}  // namespace
}  // namespace lab

int main(int argc, char** argv) {
  const int exit_code = lab::cli::guarded_main(argc, argv, lab::run);
  std::fflush(nullptr);
  _exit(exit_code);
}
