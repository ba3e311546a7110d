#include <fmt/format.h>

#include <cstdio>

#include "common/base/files.h"
#include "common/tensor/compute_threads.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/commands/commands.h"
#include "optC_model_parallel/commands/curves.h"
#include "optC_model_parallel/commands/lab_options.h"
#include "optC_model_parallel/commands/training_progress.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/training.h"

namespace lab::optc {
namespace {

ExitCode train_alone(LabOptions options, const cli::CommonOptions& common) {
  options.training.model = options.model.empty() ? options.training.model : options.model;
  finish(options, common);
  make_folder("--out", common.out_dir);
  use_threads(1);  // like each rank of the parallel runs

  const TrainingOptions& training = options.training;
  const std::unique_ptr<Strategy> strategy = single_process(training);
  const Dataset data = load_data(options);
  options.checkpoints.fingerprint = fingerprint(options, "one process");
  Checkpoints checkpoints(options.checkpoints, 0, 1);
  fmt::print("{}; {} training and {} test images\n", describe(training), data.train.size(), data.test.size());
  TrainingRecord record;
  std::string speed;
  {
    TrainingProgress progress(training.model, training.num_epochs * data.train.size());
    TrainingEvents events;
    events.on_step = [&](std::int64_t num_images, double loss) { progress.step(num_images, loss); };
    events.on_note = [](const std::string& note) { fmt::print(stderr, "optC_model_parallel single: {}\n", note); };
    events.on_epoch = [&](std::int64_t epoch, const TrainingRecord& so_far) {
      fmt::print("epoch {}: test loss {:.6f}, accuracy {:.4f}\n", epoch, so_far.test_losses.back(),
                 so_far.accuracies.back());
      std::fflush(stdout);
    };
    record = run_training(training, data, *strategy, &checkpoints, events);
    speed = progress.text();
  }
  fmt::print("{}\n", speed);
  const std::string path = fmt::format("{}/optC_single_{}.safetensors", common.out_dir, training.model);
  save_record(path, record);
  fmt::print("written: {}\n", path);
  for (const std::string& written :
       write_curves({{"one process", record, true}}, common.out_dir, "optC_single_" + training.model))
    fmt::print("written: {}\n", written);
  return ExitCode::kAllMatch;
}

}  // namespace

void single_command(cli::App& app) {
  auto& options = app.own(LabOptions());
  auto& common = app.own(cli::CommonOptions());
  app.add_seed("--seed", common.seed, "of weights and of the order of images");
  app.add_text("--out", common.out_dir, "DIR", "folder of the record and its curves");
  add_training_options(app, options);
  add_model_option(app, options);
  add_checkpoint_options(app, options);
  app.set_action([&] { return train_alone(options, common); });
}

}  // namespace lab::optc
