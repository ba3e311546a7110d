#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "common/base/numbers.h"
#include "optC_model_parallel/commands/commands.h"
#include "optC_model_parallel/commands/memory_runs.h"
#include "optC_model_parallel/model/parallel/strategies.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;

std::int64_t largest(const std::vector<std::int64_t>& bytes) {
  return *std::max_element(bytes.begin(), bytes.end());
}

double in_megabytes(std::int64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kMegabyte);
}

/// With GPipe all micro-batches of a batch are live at once: prints what that will take before trying it.
/// Errors    UsageError: more than the cap
void forecast(const MemoryRun& run) {
  const std::int64_t bytes = largest(forecast_activation_bytes(run));
  const std::int64_t m = run.pipeline.num_micro_batches;
  const bool fits = run.cap_bytes == 0 || bytes <= run.cap_bytes;
  const std::string verdict =
      run.cap_bytes == 0
          ? ""
          : fmt::format(", {} under the cap of {} MB", fits ? "fits" : "does not fit", run.cap_bytes / kMegabyte);
  fmt::print("forecast: {} micro-batches with gpipe take {:.3f} MB on the rank that holds most, {:.3f} MB each{}\n", m,
             in_megabytes(bytes), in_megabytes(bytes) / static_cast<double>(m), verdict);
  std::fflush(stdout);
  if (!fits)
    throw UsageError(fmt::format("--cap {}: expected at least {:.0f} MB for {} micro-batches with gpipe; hint: {}",
                                 run.cap_bytes / kMegabyte, in_megabytes(bytes) + 1, m,
                                 run.pipeline.recompute ? "--schedule 1f1b" : "--recompute, or --schedule 1f1b"));
}

void print_row(const std::string& schedule, const std::string& micro_batches, const std::vector<std::string>& ranks,
               const std::string& change) {
  fmt::print("{:<18} {:>13}", schedule, micro_batches);
  for (const std::string& rank : ranks) fmt::print(" {:>10}", rank);
  fmt::print(" {:>12}\n", change);
  std::fflush(stdout);
}

/// The largest change on any rank, in percent.
double change_percent(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& now) {
  double change = 0;
  for (std::size_t rank = 0; rank < first.size(); ++rank) {
    const double of_rank = 100 * (static_cast<double>(now[rank]) / static_cast<double>(first[rank]) - 1);
    if (std::abs(of_rank) > std::abs(change)) change = of_rank;
  }
  return change;
}

void measure_all(MemoryRun run, const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> head;
  for (int rank = 0; rank < run.num_stages; ++rank) head.push_back(fmt::format("rank {} MB", rank));
  const std::string schedule = run.pipeline.schedule + (run.pipeline.recompute ? " + recompute" : "");
  print_row("schedule", "micro-batches", head, "change");
  std::vector<std::int64_t> first;
  for (const std::int64_t number : numbers) {
    run.pipeline.num_micro_batches = number;
    if (run.pipeline.schedule == "gpipe") forecast(run);
    const std::vector<std::int64_t> bytes = peak_activation_bytes(run);
    if (first.empty()) first = bytes;
    std::vector<std::string> cells;
    for (const std::int64_t of_rank : bytes) cells.push_back(fmt::format("{:.3f}", in_megabytes(of_rank)));
    print_row(schedule, std::to_string(number), cells, fmt::format("{:+.1f} %", change_percent(first, bytes)));
  }
}

struct MemoryOptions {
  MemoryOptions() {
    run.training.dtype = at::kFloat;
    run.pipeline.schedule = "1f1b";
  }

  std::string list = "1000,10000";
  std::int64_t cap_megabytes = 0;
  MemoryRun run;
};

ExitCode measure_memory(const MemoryOptions& options) {
  const std::vector<std::int64_t> numbers = numbers_in("--micro-batches", options.list, {1, 1'000'000});
  MemoryRun run = options.run;
  run.cap_bytes = options.cap_megabytes * kMegabyte;
  check_pipeline(run.training, run.pipeline, run.num_stages);

  fmt::print("{}, float32, {} stages, micro-batches of {} images; MB = 10^6 bytes of activations at once, at most\n",
             run.training.model, run.num_stages, run.micro_batch_size);
  measure_all(run, numbers);
  return ExitCode::kAllMatch;
}

}  // namespace

void memory_command(cli::App& app) {
  auto& options = app.own(MemoryOptions());
  app.add_text("--micro-batches", options.list, "LIST", "numbers of micro-batches, one batch each");
  app.add_integer("--micro-batch-size", options.run.micro_batch_size, {1, 65'536}, "images of a micro-batch");
  app.add_choice("--schedule", options.run.pipeline.schedule, {"gpipe", "1f1b"}, "of the pipeline");
  app.add_flag("--recompute", options.run.pipeline.recompute,
               "drop activations, and recompute them in the backward pass");
  app.add_integer("--cap", options.cap_megabytes, {0, 1'000'000},
                  "MB by which a rank's process may grow during the batch, enforced by the kernel; 0: no limit");
  app.add_choice("--model", options.run.training.model, pipeline_model_names(), "the network to train");
  app.add_integer("--nproc", options.run.num_stages, {2, 64}, "stages, one process each");
  app.add_seed("--seed", options.run.training.seed, "of images and weights");
  app.add_timeout(options.run.timeout_seconds);
  app.set_action([&] { return measure_memory(options); });
}

}  // namespace lab::optc
