#pragma once

#include <string>

#include "a5_pipeline/arguments.h"

namespace lab::a5 {

/// Sizes at which two stages compute so long that their messages hardly count.
struct BenchOptions {
  BenchOptions();

  PipelineArguments arguments;
  int num_ranks = 2;
  int num_micro_batches = 8;
  int num_turns = 5;
};

struct BenchRow {
  std::string kind;
  int num_chunks = 1;
  double measured_seconds = 0;  ///< from the first computation's begin to the last one's end; median of the turns
  double modelled_seconds = 0;  ///< the schedule's makespan with the times below, in the same turn
  double forward_seconds = 0;   ///< of a micro-batch on a rank, mean over ranks, median of the turns
  double backward_seconds = 0;
  double bubble = 0;  ///< measured: the ranks' time outside computations
  double modelled_bubble = 0;
  std::int64_t most_peak_bytes = 0;  ///< tensors on the rank that held most
};

/// Runs the schedule on processes.
/// Errors    UsageError: the schedule does not admit the numbers; those of the run
BenchRow measure(const BenchOptions& options, const std::string& kind);

std::string bench_header();
std::string bench_line(const BenchRow& row);

}  // namespace lab::a5
