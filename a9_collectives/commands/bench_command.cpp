#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "a9_collectives/commands/bench.h"
#include "a9_collectives/commands/commands.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/bench/bench_blocks.h"
#include "common/bench/machine_load.h"
#include "common/tensor/compute_threads.h"

namespace lab::a9 {
namespace {

constexpr std::array<const char*, 2> kTransportsOfFit = {"gloo", "shm"};

struct BenchOptions {
  int num_ranks = 4;
  std::string collective = "all";
  std::string transport = "gloo";
  SizeSteps steps;
  int turns = 11;
  std::string json_file;
  std::string fit_file;

  bool fits() const { return !fit_file.empty(); }
  BenchRun run() const { return {num_ranks, transport, bench_sizes(steps, num_ranks), turns, fits()}; }
};

/// The table of one number of ranks over one transport.
std::vector<BenchRow> bench_all(const BenchOptions& options) {
  std::vector<BenchRow> all;
  for (const Collective& collective : catalogue()) {
    if (options.collective != "all" && options.collective != collective.name) continue;
    const std::vector<BenchRow> rows = measured_rows(options.run(), collective);
    for (const BenchRow& row : rows) fmt::print("{}\n", bench_line(row));
    std::fflush(stdout);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

/// On few and on more ranks, over both transports: what the tables of choose_...() follow from.
std::vector<BenchRow> bench_for_fit(BenchOptions options) {
  std::vector<BenchRow> all;
  const int most_ranks = options.num_ranks;
  for (const int num_ranks : {2, 3, 4, 6, 8, 12, 16}) {
    if (num_ranks > most_ranks) break;
    options.num_ranks = num_ranks;
    for (const char* transport : kTransportsOfFit) {
      options.transport = transport;
      fmt::print("over {}, {}:\n", transport, counted(num_ranks, "rank"));
      const std::vector<BenchRow> rows = bench_all(options);
      all.insert(all.end(), rows.begin(), rows.end());
    }
  }
  return all;
}

ExitCode bench(const BenchOptions& options) {
  use_threads(1);
  check_steps(options.steps);
  if (options.collective != "all") collective_named(options.collective);
  if (options.fits() && options.transport != kTransportsOfFit.front())
    throw UsageError(
        "--fit measures over Gloo and shared memory, between which choose_...() cannot tell: "
        "expected no --transport");
  for (const std::string& file : {options.json_file, options.fit_file}) {
    if (!file.empty()) const AtomicFile never_committed(file);
  }
  const MachineLoad load;
  fmt::print("{}\n", bench_header());
  const std::vector<BenchRow> rows = options.fits() ? bench_for_fit(options) : bench_all(options);
  if (options.fits()) {
    const std::string measured = fmt::format("// As `bench --fit` measured it over {}: {}.\n",
                                             fmt::join(kTransportsOfFit, " and "), load.report());
    write_file_atomically(options.fit_file, measured + choice_tables(rows));
  }
  if (!options.json_file.empty()) write_file_atomically(options.json_file, bench_json(rows));
  fmt::print("{}\n", load.report());
  if (options.fits()) fmt::print("tables for choose_...(): {}\n", options.fit_file);
  const bool wrong = std::any_of(rows.begin(), rows.end(), [](const BenchRow& row) { return row.wrong > 0; });
  return wrong ? ExitCode::kMismatch : ExitCode::kAllMatch;
}

}  // namespace

void bench_command(cli::App& app) {
  auto& options = app.own(BenchOptions());
  app.add_integer("--nproc", options.num_ranks, {2, 64}, "ranks");
  app.add_text("--collective", options.collective, "NAME", "one collective, or all");
  app.add_transport(options.transport, "how messages travel");
  add_steps(app, options.steps);
  app.add_integer("--turns", options.turns, {1, 1000}, "blocks of each algorithm; the median counts");
  app.add_text("--json", options.json_file, "FILE", "the table as JSON");
  app.add_text("--fit", options.fit_file, "FILE",
               "measure on 2 ranks up to --nproc, over Gloo and through shared memory, and write the tables of "
               "choose_...() as C++");
  app.set_action([&] { return bench(options); });
}

}  // namespace lab::a9
