#include "a5_pipeline/bench_command.h"

#include <fmt/format.h>

#include <cstdio>

#include "a5_pipeline/bench_measure.h"
#include "common/bench/machine_load.h"
#include "common/pipeline/generators.h"
#include "common/report/app.h"

namespace lab::a5 {

ExitCode bench_command(int argc, char** argv) {
  BenchOptions options;
  std::string kind = "all";
  std::vector<std::string> choices = pipeline::schedule_kinds();
  choices.push_back(kind);
  App app("a5_pipeline bench", "Times each schedule, beside the makespan that follows from its own computations.");
  app.add_choice("--schedule", kind, choices, "one schedule, or all");
  app.add_whole_number("--pp", options.num_ranks, {1, 64}, "ranks");
  app.add_whole_number("--micro-batches", options.num_micro_batches, {1, 4096}, "of a batch");
  app.add_whole_number("--turns", options.num_turns, {1, 1000}, "runs of each schedule, after one that is not counted");
  app.add_whole_number("--hidden-size", options.arguments.hidden_size, {1, 1 << 16}, "width between layers");
  app.add_whole_number("--intermediate-size", options.arguments.intermediate_size, {1, 1 << 16},
                       "width inside a layer");
  app.add_whole_number("--number-of-layers", options.arguments.number_of_layers, {1, 1 << 12}, "layers of the model");
  app.add_whole_number("--sequence-length", options.arguments.sequence_length, {1, 1 << 16}, "tokens in a sequence");
  app.add_whole_number("--micro-batch-size", options.arguments.micro_batch_size, {1, 1 << 16},
                       "sequences in a micro-batch");
  if (const auto done = app.parse(argc, argv)) return *done;

  std::vector<std::string> kinds = {kind};
  if (kind == "all") kinds = pipeline::schedule_kinds();
  const MachineLoad load;
  fmt::print("{}\n", bench_header());
  for (const std::string& one : kinds) {
    fmt::print("{}\n", bench_line(measure(options, one)));
    std::fflush(stdout);
  }
  fmt::print("{}\n", load.report());
  return ExitCode::kAllMatch;
}

}  // namespace lab::a5
