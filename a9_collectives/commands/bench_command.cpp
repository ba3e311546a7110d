#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "a9_collectives/commands/bench.h"
#include "a9_collectives/commands/bench_measure.h"
#include "a9_collectives/commands/commands.h"
#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/base/text.h"
#include "common/bench/bench_blocks.h"
#include "common/bench/machine_load.h"
#include "common/comm/communicator.h"
#include "common/plot/plot.h"
#include "common/tensor/compute_threads.h"

namespace lab::a9 {
namespace {

constexpr std::array<const char*, 2> kTransportsOfFit = {"gloo", "shm"};

struct BenchOptions {
  int num_ranks = 4;
  std::string collective = "all";
  std::string transport = "gloo";
  SizeSteps steps{1 << 10, 64 << 20, 4};
  int turns = 11;
  bool selected_only = false;
  bool no_mpi = false, no_python = false;
  std::string json_file;
  std::string plot_file;
  std::string fit_file;

  bool fits() const { return !fit_file.empty(); }
  std::vector<const Collective*> collectives() const;
  BenchRun run() const { return {num_ranks, transport, bench_sizes(steps, num_ranks), turns, selected_only, fits()}; }
  std::string picture_of(const Collective& one) const {
    return collective == "all" ? chart_file(plot_file, one.name) : plot_file;
  }
};

std::vector<const Collective*> BenchOptions::collectives() const {
  if (collective != "all") return {&collective_named(collective)};
  std::vector<const Collective*> all;
  for (const Collective& one : catalogue()) all.push_back(&one);
  return all;
}

/// Errors    UsageError: sizes in the wrong order, or a file that could not be written at the end of the run
void validate(const BenchOptions& options) {
  if (options.steps.min_bytes > options.steps.max_bytes) {
    const auto text = [](std::int64_t bytes) { return describe_bytes(static_cast<std::uint64_t>(bytes)); };
    throw UsageError(fmt::format("--min-bytes {}: expected at most --max-bytes, {}", text(options.steps.min_bytes),
                                 text(options.steps.max_bytes)));
  }
  if (options.fits() && options.selected_only)
    throw UsageError("--fit compares all algorithms: expected no --selected-only");
  if (options.fits() && options.transport != kTransportsOfFit.front())
    throw UsageError(
        "--fit measures over Gloo and shared memory, between which choose_...() cannot tell: "
        "expected no --transport");
  if (!options.plot_file.empty()) plot::check_plot_name(options.plot_file);
  for (const Collective* collective : options.collectives()) {
    if (!options.plot_file.empty()) plot::check_plot_name(options.picture_of(*collective));
  }
  for (const std::string& file : {options.json_file, options.fit_file}) {
    if (!file.empty()) const AtomicFile never_committed(file);
  }
}

/// One collective's part of the table.
std::vector<BenchRow> bench(const BenchOptions& options, const Collective& collective, const std::vector<Peer>& peers) {
  const BenchRun run = options.run();
  const std::vector<BenchRow> rows = measured_rows(run, collective, peers);
  for (const BenchRow& row : rows) fmt::print("{}\n", bench_line(row));
  for (const Peer& peer : peers) {
    const auto is_its = [&](const BenchRow& row) { return row.algorithm == peer.name; };
    const auto num_rows = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), is_its));
    if (num_rows == run.sizes.size()) continue;
    fmt::print("peer {} is left out of {} after {}: its ranks ended, or a block took them over {} s\n", peer.name,
               collective.name, counted(num_rows, "size"), kTwinSeconds);
  }
  std::fflush(stdout);
  return rows;
}

/// Measures the algorithms on few and on more ranks, over both transports, and writes the tables of choose_...() that
/// follow from it.
ExitCode fit(const BenchOptions& asked) {
  const MachineLoad load;
  fmt::print("{}\n", bench_header());
  std::vector<BenchRow> all;
  for (const int num_ranks : {2, 3, 4, 6, 8, 12, 16}) {
    if (num_ranks > asked.num_ranks) break;
    BenchOptions options = asked;
    options.num_ranks = num_ranks;
    for (const std::string transport : kTransportsOfFit) {
      options.transport = transport;
      fmt::print("over {}, {}:\n", transport, counted(num_ranks, "rank"));
      for (const Collective* collective : options.collectives()) {
        const std::vector<BenchRow> rows = bench(options, *collective, {});
        all.insert(all.end(), rows.begin(), rows.end());
      }
    }
  }
  const std::string measured = fmt::format("// As `bench --fit` measured it over {}: {}.\n",
                                           fmt::join(kTransportsOfFit, " and "), load.report());
  write_file_atomically(asked.fit_file, measured + choice_tables(all));
  if (!asked.json_file.empty()) write_file_atomically(asked.json_file, bench_json(all));
  fmt::print("{}\ntables for choose_...(): {}\n", load.report(), asked.fit_file);
  const bool wrong = std::any_of(all.begin(), all.end(), [](const BenchRow& row) { return row.wrong > 0; });
  return wrong ? ExitCode::kMismatch : ExitCode::kAllMatch;
}

ExitCode bench_all(const BenchOptions& options) {
  use_threads(1);
  validate(options);
  if (options.fits()) return fit(options);
  const MachineLoad load;
  const UsablePeers usable = usable_peers(options.num_ranks, options.no_mpi, options.no_python);
  for (const std::string& line : usable.lines) fmt::print("{}\n", line);
  fmt::print("{}\n", bench_header());
  std::fflush(stdout);

  std::vector<BenchRow> all;
  bool wrong = false;
  for (const Collective* collective : options.collectives()) {
    const std::vector<BenchRow> rows = bench(options, *collective, usable.peers);
    if (!options.plot_file.empty()) plot::draw(bench_chart(rows), options.picture_of(*collective));
    for (const BenchRow& row : rows) wrong = wrong || row.wrong > 0;
    all.insert(all.end(), rows.begin(), rows.end());
  }
  if (!options.json_file.empty()) write_file_atomically(options.json_file, bench_json(all));
  for (const std::string& line : summary_lines(all)) fmt::print("{}\n", line);
  fmt::print("{}\n", load.report());
  return wrong ? ExitCode::kMismatch : ExitCode::kAllMatch;
}

}  // namespace

void bench_command(cli::App& app) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;
  auto& options = app.own(BenchOptions());
  app.add_integer("--nproc", options.num_ranks, {2, 64}, "ranks");
  app.add_text("--collective", options.collective, "NAME", "one collective, or all");
  app.add_transport(options.transport, "of the algorithms, not of their peers");
  app.add_bytes("--min-bytes", options.steps.min_bytes, {4, kMostBytes}, "smallest size");
  app.add_bytes("--max-bytes", options.steps.max_bytes, {4, kMostBytes}, "largest size");
  app.add_integer("--factor", options.steps.factor, {2, 1024}, "from one size to the next");
  app.add_integer("--turns", options.turns, {1, 1000}, "blocks of each contender; the median counts");
  app.add_flag("--selected-only", options.selected_only, "leave out the algorithms that are not selected");
  app.add_flag("--no-mpi", options.no_mpi, "leave out Open MPI");
  app.add_flag("--no-python", options.no_python, "leave out Python: the handout's way, with torch.distributed");
  app.add_text("--json", options.json_file, "FILE", "the table as JSON");
  app.add_text("--fit", options.fit_file, "FILE",
               "measure the algorithms alone, on 2 ranks up to --nproc, over Gloo and through shared memory, and write "
               "the tables of choose_...() as C++");
  app.add_text("--plot", options.plot_file, "FILE",
               "bandwidth against size (.png, .pdf, .svg); FILE gets each collective's name where all run");
  app.set_action([&] { return bench_all(options); });
}

}  // namespace lab::a9
