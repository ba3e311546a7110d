#include "a9_collectives/bench_command.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <cstdio>

#include "a9_collectives/bench_measure.h"
#include "common/bench/machine_load.h"
#include "common/launch/run_directory.h"
#include "common/launch/run_ranks.h"
#include "common/report/app.h"
#include "common/report/atomic_file.h"

namespace lab::a9 {
namespace {

struct BenchOptions {
  int num_ranks = 4;
  std::string collective = "all";
  std::int64_t min_bytes = 1 << 10;
  std::int64_t max_bytes = 64 << 20;
  int factor = 4;
  int turns = 11;
  bool selected_only = false;
  std::string json_file;
  std::string plot_file;
};

std::vector<const Collective*> collectives_of(const BenchOptions& options) {
  if (options.collective != "all") return {&collective_named(options.collective)};
  std::vector<const Collective*> all;
  for (const Collective& collective : catalogue()) all.push_back(&collective);
  return all;
}

void bench_on_rank(const BenchOptions& options, const std::string& folder, Communicator& comm) {
  GlooPeer gloo(folder, comm.rank(), comm.size());
  std::vector<BenchRow> rows;
  if (comm.rank() == 0) fmt::print("{}\n", bench_header());
  for (const Collective* collective : collectives_of(options)) {
    for (std::int64_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= options.factor) {
      BenchPoint point;
      point.bytes = bytes;
      point.turns = options.turns;
      point.selected_only = options.selected_only;
      for (const BenchRow& row : measure(*collective, point, comm, gloo)) {
        rows.push_back(row);
        if (comm.rank() == 0) fmt::print("{}\n", bench_line(row));
      }
      if (comm.rank() == 0) std::fflush(stdout);
    }
  }
  if (comm.rank() == 0 && !options.json_file.empty()) write_file_atomically(options.json_file, bench_json(rows));
}

}  // namespace

ExitCode bench_command(int argc, char** argv) {
  at::set_num_threads(1);
  BenchOptions options;
  App app("a9_collectives bench", "Times every algorithm against Gloo's built-ins, in turns within one run.");
  app.add_whole_number("--nproc", options.num_ranks, {2, 64}, "ranks");
  app.add_text("--collective", options.collective, "NAME", "one collective, or all");
  app.add_bytes("--min-bytes", options.min_bytes, {4, std::int64_t{1} << 32}, "smallest size");
  app.add_bytes("--max-bytes", options.max_bytes, {4, std::int64_t{1} << 32}, "largest size");
  app.add_whole_number("--factor", options.factor, {2, 1024}, "from one size to the next");
  app.add_whole_number("--turns", options.turns, {1, 1000}, "blocks of each contender; the median counts");
  app.add_flag("--selected-only", options.selected_only, "leave out the algorithms that are not selected");
  app.add_text("--json", options.json_file, "FILE", "the table as JSON");
  app.add_text("--plot", options.plot_file, "FILE", "the table as a picture (.png, .pdf, .svg)");
  if (const auto done = app.parse(argc, argv)) return *done;
  collectives_of(options);

  const RunDirectory directory;
  WorldSpec spec;
  spec.kind = WorldKind::kProcesses;
  spec.num_ranks = options.num_ranks;
  spec.timeout_seconds = 120;
  const MachineLoad load;
  const WorldOutcome outcome = run_ranks(
      spec, RankBody([&](Communicator& comm, RankOutcome&) { bench_on_rank(options, directory.path(), comm); }));
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->sentence);
  fmt::print("{}\n", load.report());
  return ExitCode::kAllMatch;
}

}  // namespace lab::a9
