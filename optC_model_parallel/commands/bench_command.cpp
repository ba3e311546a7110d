#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "common/base/errors.h"
#include "common/bench/machine_load.h"
#include "common/bench/median.h"
#include "common/bench/python_compute.h"
#include "common/launch/run_ranks.h"
#include "common/tensor/compute_threads.h"
#include "common/tensor/tensor_map.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/commands/commands.h"
#include "optC_model_parallel/model/data/batches.h"
#include "optC_model_parallel/model/data/generated_images.h"
#include "optC_model_parallel/model/parallel/parallel_strategies.h"
#include "optC_model_parallel/model/training/training_options.h"
#include "optC_model_parallel/models.h"
#include "optC_model_parallel/strategy.h"

namespace lab::optc {
namespace {

// Training steps on generated images, in processes with one thread each, to measure their speed.
struct SpeedRun {
  TrainingOptions training;
  PipelineOptions pipeline;
  int num_stages = 1;          ///< one process each; 1: single_process(), each batch as a whole
  std::int64_t num_steps = 8;  ///< timed steps, after one untimed step
  double timeout_seconds = 300;
};

TensorMap timed_steps(const SpeedRun& run, Communicator& comm) {
  use_threads(1);
  const std::int64_t batch_size = run.training.batch_size;
  const Images images = generated_images(batch_size, 0, run.training.seed).train;
  const EpochBatches batches(batch_size, batch_size, run.training.seed, 0);
  const std::unique_ptr<Strategy> strategy =
      run.num_stages == 1 ? single_process(run.training) : pipeline_parallel(run.training, run.pipeline, comm);
  double last_loss = 0;  // known to the last stage, which is this rank if it is the only one
  const auto step = [&] { strategy->train(images, batches, {0, 1}, [&](double loss) { last_loss = loss; }); };
  step();  // warm-up: memory, convolution primitives, connections
  comm.collectives().barrier();
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < run.num_steps; ++i) step();
  comm.collectives().barrier();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {
      {"images_per_second", at::scalar_tensor(static_cast<double>(run.num_steps * batch_size) / seconds, at::kDouble)},
      {"last_loss", at::scalar_tensor(last_loss, at::kDouble)}};
}

struct Speed {
  double images_per_second = 0;
  double last_loss = 0;  ///< of a single process
};

/// Timed from a barrier before the first timed step until the last rank is done.
/// Call      this process must not have a thread pool yet
/// Errors    those of check_pipeline(); raises a failed rank's error
Speed speed_of(const SpeedRun& run) {
  if (run.num_stages > 1) check_pipeline(run.training, run.pipeline, run.num_stages);
  launch::WorldSpec spec;
  spec.kind = launch::WorldKind::kProcesses;
  spec.num_ranks = run.num_stages;
  spec.timeout_seconds = run.timeout_seconds;
  spec.careful = false;
  const launch::WorldOutcome outcome =
      launch::run_ranks(spec, [&](Communicator& comm) { return timed_steps(run, comm); });
  if (outcome.failure) raise(static_cast<ExitCode>(outcome.failure->exit_code), outcome.failure->message);
  const TensorMap& first = outcome.ranks.front().tensors;
  return {first.at("images_per_second").item<double>(), first.at("last_loss").item<double>()};
}

void print_speeds(const std::string& round, double of_one, double of_two, double of_four) {
  fmt::print("{:<7} {:>12.1f} {:>12.1f} {:>12.1f} {:>12.3f} {:>16.3f}\n", round, of_one, of_two, of_four,
             of_two / of_one, of_four / of_two);
  std::fflush(stdout);
}

/// The same training in Python's PyTorch; nothing where that is not there.
/// Errors    Error (kMismatch): its loss is another one
std::optional<double> python_images_per_second(const SpeedRun& run, double our_last_loss) {
  const auto python = python_compute({"optC", run.training.model, "--warm-up", "--batch-size",
                                      std::to_string(run.training.batch_size), "--turns", std::to_string(run.num_steps),
                                      "--lr", fmt::format("{}", run.training.optimizer.learning_rate), "--seed",
                                      std::to_string(run.training.seed)});
  if (!python) return std::nullopt;
  if (!(std::abs(python->checksum - our_last_loss) <= 1e-3 * our_last_loss))
    throw Error(ExitCode::kMismatch, fmt::format("Python trains otherwise: its last loss is {:.6f}, expected {:.6f}",
                                                 python->checksum, our_last_loss));
  const double seconds = std::accumulate(python->seconds.begin(), python->seconds.end(), 0.0);
  return static_cast<double>(run.num_steps * run.training.batch_size) / seconds;
}

ExitCode bench(SpeedRun run, int rounds, bool no_python) {
  fmt::print("{}, float32, batches of {} images, {} with {} micro-batches, {} steps; images per second\n",
             run.training.model, run.training.batch_size, run.pipeline.schedule, run.pipeline.num_micro_batches,
             run.num_steps);
  fmt::print("{:<7} {:>12} {:>12} {:>12} {:>12} {:>16}\n", "round", "one process", "2 stages", "4 stages", "2 / one",
             "4 / 2 stages");
  const MachineLoad load;
  std::vector<double> one, two, four, python;
  const auto measure = [&](int num_stages, std::vector<double>& speeds) {
    run.num_stages = num_stages;
    const Speed speed = speed_of(run);
    speeds.push_back(speed.images_per_second);
    return speed;
  };
  for (int round = 0; round < rounds; ++round) {
    const Speed alone = measure(1, one);
    if (!no_python) {
      const std::optional<double> of_python = python_images_per_second(run, alone.last_loss);
      no_python = !of_python;
      if (of_python) python.push_back(*of_python);
    }
    measure(2, two);
    measure(4, four);
    print_speeds(std::to_string(round), one.back(), two.back(), four.back());
  }
  print_speeds("median", median(one), median(two), median(four));
  if (!python.empty())
    fmt::print("Python, one process: {:.1f}; one process / Python: {:.3f}\n", median(python),
               median(one) / median(python));
  fmt::print("{}\n", load.report());
  return ExitCode::kAllMatch;
}

}  // namespace

void bench_command(cli::App& app) {
  auto& rounds = app.own(5);
  auto& run = app.own(SpeedRun());
  run.training.model = "wide";
  run.training.dtype = at::kFloat;
  run.training.batch_size = 64;
  run.pipeline.schedule = "1f1b";
  run.pipeline.num_micro_batches = 16;
  app.add_choice("--model", run.training.model, pipeline_model_names(), "the network to train");
  app.add_choice("--schedule", run.pipeline.schedule, {"gpipe", "1f1b"}, "of the pipelines");
  app.add_integer("--batch-size", run.training.batch_size, {1, 65'536}, "images of a step");
  app.add_integer("--micro-batches", run.pipeline.num_micro_batches, {8, 65'536}, "of a batch; few leave stages idle");
  app.add_integer("--steps", run.num_steps, {1, 10'000}, "timed steps per measurement, after one untimed step");
  app.add_integer("--rounds", rounds, {1, 1000}, "each measures every setup once, so that all see the same noise");
  app.add_seed("--seed", run.training.seed, "of images and weights");
  auto& no_python = app.own(false);
  app.add_flag("--no-python", no_python, "leave out the same training in Python's PyTorch");
  app.set_action([&] { return bench(run, rounds, no_python); });
}

}  // namespace lab::optc
