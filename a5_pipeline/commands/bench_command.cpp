#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "a5_pipeline/arguments.h"
#include "a5_pipeline/baseline.h"
#include "a5_pipeline/calls/scheduled_stage.h"
#include "a5_pipeline/commands/commands.h"
#include "a5_pipeline/commands/schedules.h"
#include "common/base/errors.h"
#include "common/base/numbers.h"
#include "common/bench/machine_load.h"
#include "common/bench/median.h"
#include "common/bench/python_compute.h"
#include "common/launch/run_ranks.h"
#include "common/pipeline/generators.h"
#include "common/tensor/compute_threads.h"

namespace lab::a5 {
namespace {

/// Sizes at which two stages compute for so long that their messages hardly matter.
struct BenchOptions {
  BenchOptions();

  std::string kind = "all";
  PipelineArguments arguments;
  int num_ranks = 2;
  int num_micro_batches = 8;
  int num_turns = 5;
  bool no_python = false;
};

struct BenchRow {
  std::string kind;
  int num_chunks = 1;
  double measured_seconds = 0;  ///< from the start of the first computation to the end of the last; median of the turns
  double modelled_seconds = 0;  ///< the schedule's makespan with the times below, in the same turn
  double forward_seconds = 0;   ///< of a micro-batch on a rank, mean over ranks, median of the turns
  double backward_seconds = 0;
  double bubble = 0;  ///< measured: the ranks' time outside computations
  double modelled_bubble = 0;
  std::int64_t most_peak_bytes = 0;  ///< tensors on the rank that held most
};

using pipeline::Operation;
using pipeline::Schedule;
using pipeline::Timeline;

/// The mean time of each stage's computations in this run, as the cost model's input.
pipeline::Costs costs_of(const Schedule& schedule, const Timeline& measured) {
  const auto num_stages = static_cast<std::size_t>(schedule.num_stages());
  std::map<Operation, std::vector<double>> sums;
  for (const Operation operation :
       {Operation::kForward, Operation::kBackward, Operation::kBackwardInput, Operation::kBackwardWeight})
    sums[operation].assign(num_stages, 0);
  for (const pipeline::Span& span : measured.computations) {
    const auto stage = static_cast<std::size_t>(schedule.stage_of(span.rank, span.action.chunk));
    sums[span.action.operation][stage] += (span.end_seconds - span.start_seconds) / schedule.num_micro_batches;
  }
  pipeline::Costs costs;
  costs.forward_seconds = sums[Operation::kForward];
  costs.backward_input_seconds = sums[Operation::kBackwardInput];
  // An unsplit backward pass counts as the input's part: then the weights' part is 0.
  for (std::size_t stage = 0; stage < num_stages; ++stage)
    costs.backward_input_seconds[stage] += sums[Operation::kBackward][stage];
  costs.backward_weight_seconds = sums[Operation::kBackwardWeight];
  return costs;
}

/// A micro-batch's time on a rank, mean over ranks.
double per_rank(const std::vector<double>& of_stages, int num_ranks) {
  double sum = 0;
  for (const double seconds : of_stages) sum += seconds;
  return sum / num_ranks;
}

/// What the ranks computed between their n-th barrier and the next.
std::vector<comm::TraceEvent> computations_behind_barrier(const launch::WorldOutcome& outcome, int n) {
  std::vector<comm::TraceEvent> events;
  for (const launch::RankOutcome& rank : outcome.ranks) {
    int num_barriers = -1;
    for (const comm::TraceEvent& event : rank.trace) {
      num_barriers += event.kind == comm::TraceKind::kCollective;
      if (num_barriers == n && event.kind == comm::TraceKind::kComputation) events.push_back(event);
    }
  }
  return events;
}

BenchOptions::BenchOptions() {
  arguments.hidden_size = 512;
  arguments.intermediate_size = 1792;
  arguments.sequence_length = 128;
  arguments.micro_batch_size = 2;
  arguments.number_of_layers = 8;
}

/// Runs the schedule on processes.
/// Errors    UsageError: the schedule does not allow these numbers; those of the run
BenchRow measure(const BenchOptions& options, const std::string& kind) {
  PipelineArguments arguments = options.arguments;
  arguments.global_batch_size = arguments.micro_batch_size * options.num_micro_batches;
  const Schedule schedule = model_schedule(arguments, kind, 0, options.num_ranks);

  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.num_ranks = options.num_ranks;
  spec.timeout_seconds = 60;
  spec.traced = true;
  const launch::WorldOutcome outcome = launch::run_ranks(spec, [&](Communicator& comm) {
    const DataLoader data(arguments);
    const at::Tensor activation = at::empty(arguments.activation_shape(), arguments.tensor_options());
    for (int turn = 0; turn <= options.num_turns; ++turn) {
      ScheduledStage work(arguments, schedule, data, comm, {});
      comm.collectives().barrier();
      run_schedule(schedule, comm.point_to_point(), work,
                   pipeline::same_buffers(activation.sizes(), activation.options()));
    }
    return TensorMap{};
  });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);

  // The first turn touches all memory for the first time and is not counted.
  std::vector<double> measured, modelled, forward, backward, bubble, modelled_bubble;
  for (int turn = 1; turn <= options.num_turns; ++turn) {
    const Timeline real = measured_timeline(schedule, computations_behind_barrier(outcome, turn));
    const pipeline::Costs costs = costs_of(schedule, real);
    const Timeline model = pipeline::make_timeline(schedule, costs);
    measured.push_back(real.makespan_seconds);
    modelled.push_back(model.makespan_seconds);
    bubble.push_back(real.bubble_fraction());
    modelled_bubble.push_back(model.bubble_fraction());
    forward.push_back(per_rank(costs.forward_seconds, options.num_ranks));
    backward.push_back(per_rank(costs.backward_input_seconds, options.num_ranks) +
                       per_rank(costs.backward_weight_seconds, options.num_ranks));
  }
  BenchRow row;
  row.kind = kind;
  row.num_chunks = schedule.num_chunks;
  row.measured_seconds = median(measured);
  row.modelled_seconds = median(modelled);
  row.bubble = median(bubble);
  row.modelled_bubble = median(modelled_bubble);
  row.forward_seconds = median(forward);
  row.backward_seconds = median(backward);
  for (const launch::RankOutcome& rank : outcome.ranks)
    row.most_peak_bytes = std::max(row.most_peak_bytes, rank.report.peak_tensor_bytes);
  return row;
}

std::string bench_header() {
  return fmt::format("{:<12} {:>6} {:>12} {:>11} {:>11} {:>11} {:>7} {:>8} {:>8} {:>11}", "schedule", "chunks",
                     "forward ms", "backward ms", "measured ms", "modelled ms", "ratio", "bubble", "modelled",
                     "peak memory");
}

std::string bench_line(const BenchRow& row) {
  return fmt::format("{:<12} {:>6} {:>12.2f} {:>11.2f} {:>11.1f} {:>11.1f} {:>7.3f} {:>7.1f}% {:>7.1f}% {:>11}",
                     row.kind, row.num_chunks, row.forward_seconds * 1e3, row.backward_seconds * 1e3,
                     row.measured_seconds * 1e3, row.modelled_seconds * 1e3,
                     row.measured_seconds / row.modelled_seconds, row.bubble * 100, row.modelled_bubble * 100,
                     describe_bytes(static_cast<std::uint64_t>(row.most_peak_bytes)));
}

/// The whole model in one process, as a5.baseline is: milliseconds of a batch, and the first gradient's checksum.
struct WholeModel {
  double seconds = 0;  ///< median of the turns
  double checksum = 0;
};

WholeModel measure_whole(const BenchOptions& options) {
  PipelineArguments arguments = options.arguments;
  arguments.global_batch_size = arguments.micro_batch_size * options.num_micro_batches;
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.num_ranks = 1;
  spec.careful = false;
  const launch::WorldOutcome outcome = launch::run_ranks(spec, [&](Communicator&) {
    use_threads(1);
    const Model model(arguments, all_layers(arguments));
    std::vector<double> seconds;
    for (int turn = 0; turn <= options.num_turns; ++turn) {
      for (const Layer& layer : model.layers()) {
        layer.fc1.mutable_grad() = at::Tensor();
        layer.fc2.mutable_grad() = at::Tensor();
      }
      DataLoader data(arguments);
      const auto start = std::chrono::steady_clock::now();
      baseline_forward_backward(model, data, arguments);
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    seconds.erase(seconds.begin());
    return TensorMap{{"seconds", at::scalar_tensor(median(seconds), at::kDouble)},
                     {"checksum", model.layers().front().fc1.grad().abs().mean()}};
  });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  const TensorMap& found = outcome.ranks.front().tensors;
  return {found.at("seconds").item<double>(), found.at("checksum").item<float>()};
}

/// The whole model in one process, beside the same in Python's PyTorch.
/// Errors    Error (kMismatch): its gradients are others
void bench_whole(const BenchOptions& options) {
  const WholeModel ours = measure_whole(options);
  fmt::print("one process: {:.1f} ms for a batch\n", ours.seconds * 1e3);
  if (options.no_python) return;
  std::vector<std::string> arguments = {"a5", "--warm-up", "--turns", std::to_string(options.num_turns)};
  for (const std::int64_t size : {options.arguments.hidden_size, options.arguments.intermediate_size,
                                  options.arguments.number_of_layers, options.arguments.sequence_length,
                                  options.arguments.micro_batch_size, std::int64_t{options.num_micro_batches}}) {
    arguments.push_back(std::to_string(size));
  }
  const auto python = python_compute(arguments);
  if (!python) return;
  if (!(std::abs(python->checksum - ours.checksum) <= 1e-3 * ours.checksum))
    throw Error(ExitCode::kMismatch,
                fmt::format("Python computes other gradients: their mean is {:.6e}, expected {:.6e}", python->checksum,
                            ours.checksum));
  const double seconds = median(python->seconds);
  fmt::print("Python, one process: {:.1f} ms; one process / Python: {:.3f}\n", seconds * 1e3, ours.seconds / seconds);
}

ExitCode bench(const BenchOptions& options) {
  std::vector<std::string> kinds = {options.kind};
  if (options.kind == "all") kinds = pipeline::schedule_kinds();
  const MachineLoad load;
  fmt::print("{}\n", bench_header());
  for (const std::string& one : kinds) {
    fmt::print("{}\n", bench_line(measure(options, one)));
    std::fflush(stdout);
  }
  bench_whole(options);
  fmt::print("{}\n", load.report());
  return ExitCode::kAllMatch;
}

}  // namespace

void bench_command(cli::App& app) {
  auto& options = app.own(BenchOptions());
  std::vector<std::string> choices = pipeline::schedule_kinds();
  choices.push_back(options.kind);
  app.add_choice("--schedule", options.kind, choices, "one schedule, or all");
  app.add_integer("--pp", options.num_ranks, {1, 64}, "ranks");
  app.add_integer("--micro-batches", options.num_micro_batches, {1, 4096}, "of a batch");
  app.add_integer("--turns", options.num_turns, {1, 1000}, "runs of each schedule, after one that is not counted");
  app.add_integer("--hidden-size", options.arguments.hidden_size, {1, 1 << 16}, "width between layers");
  app.add_integer("--intermediate-size", options.arguments.intermediate_size, {1, 1 << 16}, "width inside a layer");
  app.add_integer("--number-of-layers", options.arguments.number_of_layers, {1, 1 << 12}, "layers of the model");
  app.add_integer("--sequence-length", options.arguments.sequence_length, {1, 1 << 16}, "tokens in a sequence");
  app.add_integer("--micro-batch-size", options.arguments.micro_batch_size, {1, 1 << 16}, "sequences in a micro-batch");
  app.add_flag("--no-python", options.no_python, "leave out the same model in Python's PyTorch");
  app.set_action([&] { return bench(options); });
}

}  // namespace lab::a5
