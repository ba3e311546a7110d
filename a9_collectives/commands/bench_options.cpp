#include "a9_collectives/commands/bench_options.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/cli/app.h"
#include "common/plot/plot.h"

namespace lab::a9 {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;

void check(const BenchOptions& options) {
  if (options.steps.min_bytes > options.steps.max_bytes) {
    const auto text = [](std::int64_t bytes) { return describe_bytes(static_cast<std::uint64_t>(bytes)); };
    throw UsageError(fmt::format("--min-bytes {}: expected at most --max-bytes, {}", text(options.steps.min_bytes),
                                 text(options.steps.max_bytes)));
  }
  if (!options.plot_file.empty()) plot::check_plot_name(options.plot_file);
  for (const Collective* collective : options.collectives()) {
    if (!options.plot_file.empty()) plot::check_plot_name(options.picture_of(*collective));
  }
  if (!options.json_file.empty()) const AtomicFile never_committed(options.json_file);
}

}  // namespace

std::vector<const Collective*> BenchOptions::collectives() const {
  if (collective != "all") return {&collective_named(collective)};
  std::vector<const Collective*> all;
  for (const Collective& one : catalogue()) all.push_back(&one);
  return all;
}

std::string BenchOptions::picture_of(const Collective& one) const {
  if (collective != "all") return plot_file;
  std::filesystem::path path(plot_file);
  path.replace_filename(path.stem().string() + "_" + one.name + path.extension().string());
  return path.string();
}

std::optional<ExitCode> parse_bench_options(int argc, char** argv, BenchOptions& options) {
  App app("a9_collectives bench",
          "Times every algorithm against Gloo's built-ins, in turns within one run, and against Open MPI's.");
  app.add_integer("--nproc", options.num_ranks, {2, 64}, "ranks");
  app.add_text("--collective", options.collective, "NAME", "one collective, or all");
  app.add_bytes("--min-bytes", options.steps.min_bytes, {4, kMostBytes}, "smallest size");
  app.add_bytes("--max-bytes", options.steps.max_bytes, {4, kMostBytes}, "largest size");
  app.add_integer("--factor", options.steps.factor, {2, 1024}, "from one size to the next");
  app.add_integer("--turns", options.turns, {1, 1000}, "blocks of each contender; the median counts");
  app.add_flag("--selected-only", options.selected_only, "leave out the algorithms that are not selected");
  app.add_flag("--no-mpi", options.no_mpi, "leave out Open MPI");
  app.add_text("--json", options.json_file, "FILE", "the table as JSON");
  app.add_text("--plot", options.plot_file, "FILE",
               "bandwidth against size (.png, .pdf, .svg); FILE gets each collective's name where all run");
  if (const auto done = app.parse(argc, argv)) return done;
  check(options);
  return std::nullopt;
}

}  // namespace lab::a9
