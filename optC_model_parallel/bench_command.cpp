#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "common/bench/machine_load.h"
#include "common/bench/median.h"
#include "common/report/app.h"
#include "optC_model_parallel/measure_commands.h"
#include "optC_model_parallel/models.h"
#include "optC_model_parallel/speed_runs.h"

namespace lab::optc {
namespace {

void print_speeds(const std::string& round, double of_one, double of_two, double of_four) {
  fmt::print("{:<7} {:>12.1f} {:>12.1f} {:>12.1f} {:>12.3f} {:>16.3f}\n", round, of_one, of_two, of_four,
             of_two / of_one, of_four / of_two);
  std::fflush(stdout);
}

}  // namespace

ExitCode bench_command(int argc, char** argv) {
  int rounds = 5;
  SpeedRun run;
  run.training.model = "wide";
  run.training.dtype = at::kFloat;
  run.training.batch_size = 64;
  run.pipeline.schedule = "1f1b";
  run.pipeline.num_micro_batches = 16;
  App app(
      "optC_model_parallel bench",
      "Images per second in one process, in 2 stages and in 4, one thread each. On an idle machine with two cores or "
      "more, 2 stages of the model wide reach at least 1.5 of one process; with two cores, 4 stages at least 0.85 of "
      "2.");
  app.add_choice("--model", run.training.model, pipeline_model_names(), "what is trained");
  app.add_choice("--schedule", run.pipeline.schedule, {"gpipe", "1f1b"}, "of the pipelines");
  app.add_whole_number("--batch-size", run.training.batch_size, {1, 65'536}, "images of a step");
  app.add_whole_number("--micro-batches", run.pipeline.num_micro_batches, {8, 65'536},
                       "of a batch; few leave stages idle");
  app.add_whole_number("--steps", run.num_steps, {1, 10'000}, "that are timed at a time, after one that is not");
  app.add_whole_number("--rounds", rounds, {1, 1000}, "each measures everything once, so that all see the same noise");
  app.add_seed("--seed", run.training.seed, "of images and weights");
  if (const auto done = app.parse(argc, argv)) return *done;

  fmt::print("{}, float32, batches of {} images, {} with {} micro-batches, {} steps; images per second\n",
             run.training.model, run.training.batch_size, run.pipeline.schedule, run.pipeline.num_micro_batches,
             run.num_steps);
  fmt::print("{:<7} {:>12} {:>12} {:>12} {:>12} {:>16}\n", "round", "one process", "2 stages", "4 stages", "2 / one",
             "4 / 2 stages");
  const MachineLoad load;
  std::vector<double> one, two, four;
  const auto measure = [&](int num_stages, std::vector<double>& speeds) {
    run.num_stages = num_stages;
    speeds.push_back(images_per_second(run));
  };
  for (int round = 0; round < rounds; ++round) {
    measure(1, one);
    measure(2, two);
    measure(4, four);
    print_speeds(std::to_string(round), one.back(), two.back(), four.back());
  }
  print_speeds("median", median(one), median(two), median(four));
  fmt::print("{}\n", load.report());
  return ExitCode::kAllMatch;
}

}  // namespace lab::optc
