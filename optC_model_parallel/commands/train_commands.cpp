#include <fmt/format.h>

#include <cstdio>
#include <functional>

#include "common/base/files.h"
#include "common/checks/lab_main.h"
#include "common/launch/supervise/rank_environment.h"
#include "common/tensor/compute_threads.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/commands/commands.h"
#include "optC_model_parallel/commands/curves.h"
#include "optC_model_parallel/commands/lab_options.h"
#include "optC_model_parallel/commands/training_lines.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/training.h"

namespace lab::optc {
namespace {

/// A program's options, and what it trains: filled in after the options are parsed.
struct Lab {
  LabOptions options;
  std::vector<CheckedTraining> trainings;
  bool has_model_option = false;
};

CheckedTraining with_options(CheckedTraining training, const LabOptions& options, int num_ranks) {
  const std::string model = options.model.empty() ? training.run.training.model : options.model;
  training.run.training = options.training;
  training.run.training.model = model;
  training.run.pipeline = options.pipeline;
  training.checkpoints = options.checkpoints;
  training.run.checkpoint_every = options.checkpoints.every;
  if (training.run.parallelism == Parallelism::kPipeline) {
    training.run.name = options.pipeline.schedule;
    if (options.model.empty()) training.run.training.model = usual_model(options.pipeline, num_ranks);
  } else {
    training.run.name = training.run.training.model;
  }
  LabOptions of_training = options;
  of_training.training = training.run.training;
  const PipelineOptions& pipeline = options.pipeline;
  const std::string how = training.run.parallelism == Parallelism::kTensor
                              ? "tensor parallel"
                              : fmt::format("{}, {} micro-batches, {} chunks, recompute {}", pipeline.schedule,
                                            pipeline.num_micro_batches, pipeline.num_chunks, pipeline.recompute);
  training.checkpoints.fingerprint = fingerprint(of_training, how);
  training.checkpoints.folder += "/" + training.title;
  return training;
}

/// Where a rank stores a curve for the process that draws it.
std::string curve_file(const cli::CommonOptions& common, const CheckedTraining& training, bool reference) {
  return fmt::format("{}/optC_{}{}.safetensors", common.out_dir, training.title, reference ? "_single" : "");
}

void train(RankRun& run, const Lab& lab) {
  const Dataset data = load_data_on_ranks(lab.options, run.comm.collectives());
  std::vector<CheckedTraining> trainings = lab.trainings;
  std::vector<TrainingRun> runs;
  for (CheckedTraining& training : trainings) {
    training.run.training.device = run.device;
    runs.push_back(training.run);
  }
  const std::vector<TrainingRecord> references = train_references(runs, data, run.comm);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const CheckedTraining& training = trainings[i];
    const TrainingRecord record = train_and_compare(run, training, data, references[i]);
    if (record.losses.empty()) continue;
    // All ranks that know the losses have the same ones; the last one always does.
    if (run.comm.rank() != run.comm.size() - 1) continue;
    save_record(curve_file(run.options, training, false), record);
    save_record(curve_file(run.options, training, true), references[i]);
  }
}

void draw(const Lab& lab, const cli::CommonOptions& common, const log::RunReport& report) {
  if (!report.error.empty()) return;
  for (const CheckedTraining& training : lab.trainings) {
    if (training.run.training.num_epochs == 0) continue;
    const TrainingRecord reference = load_record(curve_file(common, training, true));
    const TrainingRecord parallel = load_record(curve_file(common, training, false));
    const std::string title = training.run.is_stale() ? training.run.name + " by formula" : "one process";
    for (const std::string& path : write_curves({{title, reference, true}, {training.run.name, parallel, false}},
                                                common.out_dir, "optC_" + training.title))
      fmt::print(stderr, "optC_model_parallel: written: {}\n", path);
  }
}

/// `usual`: what it trains with default options.
LabProgram make_program(const std::string& name, Lab& lab, const std::vector<CheckedTraining>& usual,
                        const std::vector<Section>& sections) {
  LabProgram program;
  program.name = name;
  program.prepare = [&lab, usual](const cli::CommonOptions& common, int num_ranks, int rank) {
    finish(lab.options, common);
    for (const CheckedTraining& training : usual) {
      lab.trainings.push_back(with_options(training, lab.options, num_ranks));
      check_run(lab.trainings.back().run, num_ranks, lab.has_model_option);
    }
    make_folder("--out", common.out_dir);
    // Before a fork, so that one process reports a damaged file. With a launcher, the ranks rendezvous first: the
    // others would wait for this one only until the timeout.
    if (rank == 0 && !launch::rank_environment()) check_data(lab.options);
  };
  program.steps = [&lab, usual, sections] {
    return program_steps(sections, lab.trainings.empty() ? usual : lab.trainings,
                         [&lab](RankRun& run) { train(run, lab); });
  };
  program.after = [&lab](const cli::CommonOptions& common, const log::RunReport& report) { draw(lab, common, report); };
  return program;
}

/// Makes the command a lab that does one training.
void one_training(cli::App& app, const std::string& name, const CheckedTraining& usual,
                  const std::function<void(cli::App&, LabOptions&)>& more_options) {
  auto& lab = app.own(Lab());
  lab.has_model_option = true;
  auto& program = app.own(make_program("optC_model_parallel " + name, lab, {usual}, {}));
  program.add_options = [&lab, more_options](cli::App& options) {
    add_training_options(options, lab.options);
    add_model_option(options, lab.options);
    add_checkpoint_options(options, lab.options);
    if (more_options) more_options(options, lab.options);
  };
  add_lab(app, program);
}

void pipeline_command(cli::App& app) {
  one_training(app, "pipeline", default_pipeline(), add_pipeline_options);
}

void tensor_command(cli::App& app) {
  one_training(app, "tensor", default_tensor(), {});
}

}  // namespace

int lab_program(int argc, char** argv) {
  Lab lab;
  LabProgram program = make_program("optC_model_parallel", lab, {default_pipeline(), default_tensor()}, sections());
  program.description =
      "Your own model parallelism: all checks, then a pipeline and a tensor-parallel training, each compared with the "
      "same training in one process.";
  program.add_options = [&](cli::App& app) {
    add_training_options(app, lab.options);
    add_pipeline_options(app, lab.options);
  };
  program.cases = all_cases;
  program.calls = calls();
  program.commands = {
      {"single", "trains in one process: what the others must equal", single_command},
      {"pipeline", "trains in stages, and compares with one process", pipeline_command},
      {"tensor", "trains split layers, and compares likewise", tensor_command},
      {"compare", "trains in several ways: a table, curves and CSV", compare_command},
      {"memory",
       "measures each stage's peak of live activations\n"
       "For batches of more and more micro-batches. With 1F1B it does not grow; with GPipe it does, and a forecast "
       "says how much.",
       memory_command}};
  return lab_main(argc, argv, program);
}

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
