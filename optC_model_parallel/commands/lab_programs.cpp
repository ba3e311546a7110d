#include "optC_model_parallel/commands/lab_programs.h"

#include <fmt/format.h>

#include <functional>

#include "common/base/files.h"
#include "common/cli/app.h"
#include "common/launch/supervise/rank_environment.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/commands/commands.h"
#include "optC_model_parallel/commands/curves.h"
#include "optC_model_parallel/commands/lab_options.h"
#include "optC_model_parallel/commands/references.h"
#include "optC_model_parallel/commands/training_lines.h"

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
std::string curve_file(const CommonOptions& common, const CheckedTraining& training, bool reference) {
  return fmt::format("{}/optC_{}{}.safetensors", common.out_dir, training.title, reference ? "_single" : "");
}

void train(RankRun& run, const Lab& lab) {
  const Dataset data = load_data_on_ranks(lab.options, run.comm.collectives());
  std::vector<TrainingRun> runs;
  for (const CheckedTraining& training : lab.trainings) runs.push_back(training.run);
  const std::vector<TrainingRecord> references = train_references(runs, data, run.comm);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const CheckedTraining& training = lab.trainings[i];
    const TrainingRecord record = train_beside(run, training, data, references[i]);
    if (record.losses.empty()) continue;
    // All ranks that know the losses have the same ones; the last one always does.
    if (run.comm.rank() != run.comm.size() - 1) continue;
    save_record(curve_file(run.options, training, false), record);
    save_record(curve_file(run.options, training, true), references[i]);
  }
}

void draw(const Lab& lab, const CommonOptions& common, const RunReport& report) {
  if (!report.error.empty()) return;
  for (const CheckedTraining& training : lab.trainings) {
    if (training.run.training.num_epochs == 0 || !reason_to_skip(training, common.world).empty()) continue;
    const TrainingRecord reference = load_record(curve_file(common, training, true));
    const TrainingRecord parallel = load_record(curve_file(common, training, false));
    const std::string title = training.run.is_stale() ? training.run.name + " by formula" : "one process";
    for (const std::string& path : write_curves({{title, reference, true}, {training.run.name, parallel, false}},
                                                common.out_dir, "optC_" + training.title))
      fmt::print(stderr, "written: {}\n", path);
  }
}

/// `usual`: what it trains with default options.
LabProgram program_of(const std::string& name, const std::string& description, Lab& lab,
                      const std::vector<CheckedTraining>& usual, const std::vector<Section>& sections) {
  LabProgram program;
  program.name = name;
  program.description = description;
  program.prepare = [&lab, usual](const CommonOptions& common, int num_ranks, int rank) {
    finish(lab.options, common);
    for (const CheckedTraining& training : usual) {
      lab.trainings.push_back(with_options(training, lab.options, num_ranks));
      check_run(lab.trainings.back().run, num_ranks, lab.has_model_option);
    }
    make_folder("--out", common.out_dir);
    // Before a fork, so that one process reports a damaged file. With a launcher, the ranks rendezvous first: the
    // others would wait for this one only until the timeout.
    if (rank == 0 && !rank_environment()) check_data(lab.options);
  };
  program.steps = [&lab, usual, sections] {
    return program_steps(sections, lab.trainings.empty() ? usual : lab.trainings,
                         [&lab](RankRun& run) { train(run, lab); });
  };
  program.after = [&lab](const CommonOptions& common, const RunReport& report) { draw(lab, common, report); };
  return program;
}

ExitCode one_training(int argc, char** argv, const std::string& word, const std::string& description,
                      const CheckedTraining& usual, const std::function<void(App&, LabOptions&)>& more_options) {
  Lab lab;
  lab.has_model_option = true;
  LabProgram program = program_of("optC_model_parallel " + word, description, lab, {usual}, {});
  program.add_options = [&](App& app) {
    add_training_options(app, lab.options);
    add_model_option(app, lab.options);
    add_checkpoint_options(app, lab.options);
    if (more_options) more_options(app, lab.options);
  };
  return static_cast<ExitCode>(lab_main(argc, argv, program));
}

}  // namespace

ExitCode pipeline_command(int argc, char** argv) {
  return one_training(argc, argv, "pipeline",
                      "Trains a model in stages, one process each, and compares it with training in one process.",
                      default_pipeline(), add_pipeline_options);
}

ExitCode tensor_command(int argc, char** argv) {
  return one_training(argc, argv, "tensor",
                      "Trains a model whose layers are split over ranks, and compares it with training in one process.",
                      default_tensor(), {});
}

int lab_program(int argc, char** argv) {
  Lab lab;
  LabProgram program =
      program_of("optC_model_parallel",
                 "Your own model parallelism: all checks, then a pipeline and a tensor-parallel training, each "
                 "compared with the same training in one process.",
                 lab, {default_pipeline(), default_tensor()}, sections());
  program.add_options = [&](App& app) {
    add_training_options(app, lab.options);
    add_pipeline_options(app, lab.options);
  };
  program.cases = all_cases();
  program.calls = calls();
  program.commands = {
      {"single", "single [--data DIR] (one process)", single_command},
      {"pipeline", "pipeline [--schedule KIND] [--resume]", pipeline_command},
      {"tensor", "tensor [--model NAME] [--resume]", tensor_command},
      {"compare", "compare [--runs LIST] (table, curves and CSV of several trainings)", compare_command},
      {"bench", "bench (images per second of one process, 2 and 4 stages)", bench_command},
      {"memory", "memory [--micro-batches LIST] (peak of live activations)", memory_command}};
  return lab_main(argc, argv, program);
}

}  // namespace lab::optc
