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
#include "optC_model_parallel/commands/training_run.h"

namespace lab::optc {
namespace {

/// A program's options, and what it trains: filled in after the options are parsed.
struct Lab {
  LabOptions options;
  std::vector<TrainingRun> trainings;
};

/// A usual training, with the user's options.
TrainingRun with_options(TrainingRun run, const LabOptions& options, int num_ranks) {
  const PipelineOptions& pipeline = options.pipeline;
  const std::string usual = run.is_tensor ? run.training.model : usual_model(pipeline, num_ranks);
  run.training = options.training;
  run.training.model = options.model.empty() ? usual : options.model;
  run.pipeline = pipeline;
  run.name = run.is_tensor ? run.training.model : pipeline.schedule;
  const std::string how = run.is_tensor
                              ? "tensor parallel"
                              : fmt::format("{}, {} micro-batches, {} chunks, recompute {}", pipeline.schedule,
                                            pipeline.num_micro_batches, pipeline.num_chunks, pipeline.recompute);
  run.checkpoints = options.checkpoints;
  run.checkpoints.fingerprint = make_fingerprint(options, run.training, how);
  run.checkpoints.folder += "/" + run.title;
  return run;
}

/// Where a rank stores a curve for the process that draws it.
std::string curve_file(const cli::CommonOptions& common, const TrainingRun& run, bool reference) {
  return fmt::format("{}/optC_{}{}.safetensors", common.out_dir, run.title, reference ? "_single" : "");
}

void train(RankRun& lab_run, const Lab& lab) {
  const Dataset data = load_data_on_ranks(lab.options, lab_run.comm.collectives());
  std::vector<TrainingRun> runs = lab.trainings;
  for (TrainingRun& run : runs) run.training.device = lab_run.device;
  const std::vector<TrainingRecord> references = train_references(runs, data, lab_run.comm);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const TrainingRecord record = train_and_compare(lab_run, runs[i], data, references[i]);
    // All ranks that know the losses have the same ones; the last one always does.
    if (record.losses.empty() || lab_run.comm.rank() != lab_run.comm.size() - 1) continue;
    save_record(curve_file(lab_run.options, runs[i], false), record);
    save_record(curve_file(lab_run.options, runs[i], true), references[i]);
  }
}

void draw(const Lab& lab, const cli::CommonOptions& common, const log::RunReport& report) {
  if (!report.error.empty()) return;
  for (const TrainingRun& run : lab.trainings) {
    if (run.training.num_epochs == 0) continue;
    const std::vector<NamedRecord> curves = {{run.reference_name(), load_record(curve_file(common, run, true)), true},
                                             {run.name, load_record(curve_file(common, run, false)), false}};
    for (const std::string& path : write_curves(curves, common.out_dir, "optC_" + run.title))
      fmt::print(stderr, "optC_model_parallel: written: {}\n", path);
  }
}

/// `usual`: what it trains with default options.
LabProgram make_program(const std::string& name, Lab& lab, const std::vector<TrainingRun>& usual,
                        const std::vector<Section>& sections) {
  LabProgram program;
  program.name = name;
  program.prepare = [&lab, usual](const cli::CommonOptions& common, int num_ranks, int rank) {
    finish(lab.options, common);
    for (const TrainingRun& run : usual) {
      lab.trainings.push_back(with_options(run, lab.options, num_ranks));
      lab.trainings.back().check(num_ranks);
    }
    make_folder("--out", common.out_dir);
    // Before a fork, so that one process reports a damaged file. With a launcher, the ranks rendezvous first: the
    // others would wait for this one only until the timeout.
    if (rank == 0 && !launch::rank_environment()) check_data(lab.options);
  };
  program.steps = [&lab, usual, sections] {
    return program_steps(sections, lab.trainings.empty() ? usual : lab.trainings,
                         [&lab](RankRun& lab_run) { train(lab_run, lab); });
  };
  program.after = [&lab](const cli::CommonOptions& common, const log::RunReport& report) { draw(lab, common, report); };
  return program;
}

/// Makes the command a lab that does one training.
void add_training(cli::App& app, const std::string& name, const TrainingRun& usual) {
  auto& lab = app.own(Lab());
  auto& program = app.own(make_program("optC_model_parallel " + name, lab, {usual}, {}));
  program.add_options = [&lab, is_pipeline = !usual.is_tensor](cli::App& options) {
    add_training_options(options, lab.options);
    add_one_training_options(options, lab.options);
    if (is_pipeline) add_pipeline_options(options, lab.options);
  };
  add_lab(app, program);
}

ExitCode train_alone(LabOptions options, const cli::CommonOptions& common) {
  if (!options.model.empty()) options.training.model = options.model;
  finish(options, common);
  make_folder("--out", common.out_dir);
  use_threads(1);  // like each rank of the parallel runs

  const TrainingOptions& training = options.training;
  const std::unique_ptr<Strategy> strategy = single_process(training);
  const Dataset data = load_data(options);
  options.checkpoints.fingerprint = make_fingerprint(options, training, "one process");
  Checkpoints checkpoints(options.checkpoints, 0, 1);
  fmt::print("{}; {} training and {} test images\n", describe(training), data.train.size(), data.test.size());
  TrainingEvents events;
  events.on_note = [](const std::string& note) { fmt::print(stderr, "optC_model_parallel single: {}\n", note); };
  events.on_epoch = [](std::int64_t epoch, const TrainingRecord& so_far) {
    fmt::print("epoch {}: test loss {:.6f}, accuracy {:.4f}\n", epoch, so_far.test_losses.back(),
               so_far.accuracies.back());
    std::fflush(stdout);
  };
  std::string speed;
  const TrainingRecord record =
      train_visibly(training.model, training, data, *strategy, false, &checkpoints, events, &speed);
  fmt::print("{}\n", speed);
  std::vector<std::string> written = {fmt::format("{}/optC_single_{}.safetensors", common.out_dir, training.model)};
  save_record(written.front(), record);
  for (const std::string& path :
       write_curves({{"one process", record, true}}, common.out_dir, "optC_single_" + training.model))
    written.push_back(path);
  for (const std::string& path : written) fmt::print("written: {}\n", path);
  return ExitCode::kAllMatch;
}

/// `single`: trains in one process, writes the record and its curves.
void single_command(cli::App& app) {
  auto& options = app.own(LabOptions());
  auto& common = app.own(cli::CommonOptions());
  app.add_seed("--seed", common.seed, "of weights and of the order of images");
  app.add_text("--out", common.out_dir, "DIR", "folder of the record and its curves");
  add_training_options(app, options);
  add_one_training_options(app, options);
  app.set_action([&] { return train_alone(options, common); });
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
      {"pipeline", "trains in stages, and compares with one process",
       [](cli::App& app) { add_training(app, "pipeline", default_pipeline()); }},
      {"tensor", "trains split layers, and compares likewise",
       [](cli::App& app) { add_training(app, "tensor", default_tensor()); }},
      {"compare", "trains in several ways: a table, curves and CSV", compare_command},
      {"memory",
       "measures each stage's peak of live activations\n"
       "For batches of more and more micro-batches. With 1F1B it does not grow; with GPipe it does, and a forecast "
       "says how much.",
       memory_command}};
  return lab_main(argc, argv, program);
}

}  // namespace lab::optc
