#pragma once

#include <optional>
#include <string>
#include <vector>

#include "a9_collectives/cases/catalogue.h"
#include "common/base/errors.h"
#include "common/bench/bench_blocks.h"

namespace lab::a9 {

struct BenchOptions {
  int num_ranks = 4;
  std::string collective = "all";
  SizeSteps steps{1 << 10, 64 << 20, 4};
  int turns = 11;
  bool selected_only = false;
  bool no_mpi = false;
  std::string json_file;
  std::string plot_file;

  std::vector<const Collective*> collectives() const;
  std::vector<std::int64_t> sizes() const { return bench_sizes(steps, num_ranks); }
  /// The file of a collective's picture; if there are several, its name goes before the extension.
  /// Example   "out/bench.png": "out/bench_allreduce.png"
  std::string picture_of(const Collective& collective) const;
};

/// An exit code if --help was answered, otherwise nothing.
/// Errors    UsageError: a wrong option, or a file that could not be written at the end of the run
std::optional<ExitCode> parse_bench_options(int argc, char** argv, BenchOptions& options);

}  // namespace lab::a9
