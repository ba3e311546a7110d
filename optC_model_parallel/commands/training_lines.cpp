#include <fmt/format.h>

#include <cstdio>

#include "common/api/shapes.h"
#include "common/rank/measured_use.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/models.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"

namespace lab::optc {
namespace {

/// In a pipeline, the last stage knows losses and predictions; with tensor parallelism, every rank does.
bool knows_losses(const TrainingRun& run, int rank, int num_ranks) {
  return run.is_tensor || rank == num_ranks - 1;
}

// The lines of a training that vary, without its title. The fields match any options.
constexpr const char* kTensorLine = "{word}, layers split over {number} ranks; ";
constexpr const char* kPipelineLine = "{word} in {number} stages, {word}, {number} micro-batches; ";
constexpr const char* kOptionsLine =
    "{word}, {word}, batches of {number}, seed {number}; {number} training and {number} test images, {number} epochs";
constexpr const char* kStageLine =
    "stage {word}: layers {word}; {number} parameters, {number} bytes, {number:.0f} multiply-adds per image "
    "({number:.1f} %)";

std::string epoch_line(std::size_t number) {
  return fmt::format("epoch {}", number) +
         ": test loss {number:.6f}, accuracy {number:.4f}; one process: {number:.6f}, {number:.4f}";
}

/// The line about a rank's stages.
std::string stage_line(const TrainingRun& run, int rank, int num_ranks) {
  const StagePlan plan = balanced_plan(model_named(run.training.model), num_ranks, run.pipeline.num_chunks);
  const ModelSpec own = layers_of_rank(plan, rank);
  std::string stages, layers;  // "0,4"; of each stage, the first and the last: "conv1,conv4-conv5"
  for (int chunk = 0; chunk < plan.num_chunks(); ++chunk) {
    const int stage = plan.numbers().find_stage(rank, chunk);
    const ModelSpec of_stage = plan.layers(stage);
    const std::string comma = chunk == 0 ? "" : ",", first = of_stage.layers.front().name;
    stages += comma + fmt::to_string(stage);
    layers += comma + first + (of_stage.layers.size() > 1 ? "-" + of_stage.layers.back().name : "");
  }
  const auto bytes = own.num_parameters() * static_cast<std::int64_t>(c10::elementSize(run.training.dtype));
  return log::filled(kStageLine, stages, layers, own.num_parameters(), bytes, own.multiply_adds(),
                     100 * own.multiply_adds() / plan.model.multiply_adds());
}

/// The lines of a right training.
/// Errors    UsageError: not in float64, whose lines alone are known in advance
void expect_training(log::LogExpectation& log, const TrainingRun& run) {
  constexpr double kMaxDiff = 1e-8;
  const int num_ranks = log.num_ranks();
  if (!is_exact(run.training)) throw UsageError("the lines of a right training are known in advance in float64 only");
  const auto text = [&](int rank, const std::string& line) { log.add(rank, log::rank_text(run.title + ": " + line)); };
  const auto match_on = [&](const std::string& what, double max_diff, bool only_where_known) {
    for (int rank = 0; rank < num_ranks; ++rank) {
      if (!only_where_known || knows_losses(run, rank, num_ranks))
        log.add(rank, log::ExpectedMatch{run.title + what, true, max_diff, "", ""});
    }
  };
  text(0, std::string(run.is_tensor ? kTensorLine : kPipelineLine) + kOptionsLine);
  if (!run.is_tensor) log.add_on_every_rank(log::rank_text(run.title + ": " + kStageLine));
  for (std::size_t epoch = 1; epoch <= static_cast<std::size_t>(run.training.num_epochs); ++epoch) {
    text(run.speaker(num_ranks), epoch_line(epoch));
    match_on(fmt::format("Epoch{}", epoch), kMaxDiff, false);
  }
  text(run.speaker(num_ranks), kSpeedLine);
  if (run.training.num_epochs == 0) return;
  match_on("Losses", kMaxDiff, true);
  match_on("Predictions", 0, true);
}

TrainingRun titled(const std::string& title, const std::string& name) {
  TrainingRun run = run_named(name, {}, {});
  run.title = title;
  return run;
}

}  // namespace

TrainingRecord train_and_compare(RankRun& lab_run, const TrainingRun& run, const Dataset& data,
                                 const TrainingRecord& reference) {
  Communicator& comm = lab_run.comm;
  const int rank = comm.rank(), size = comm.size();
  const bool speaks = rank == run.speaker(size);
  const TrainingOptions& training = run.training;
  const auto message = [&](const std::string& text) { lab_run.out.text(rank, run.title + ": " + text); };
  const auto match = [&](const std::string& what, const Comparison& found) {
    lab_run.out.match({run.title + what, rank, found.close, found.max_diff, found.mean_diff});
  };
  if (rank == 0) {
    message((run.is_tensor ? log::filled(kTensorLine, training.model, size)
                           : log::filled(kPipelineLine, training.model, size * run.pipeline.num_chunks,
                                         run.pipeline.schedule, run.pipeline.num_micro_batches)) +
            log::filled(kOptionsLine, dtype_name(training.dtype), training.optimizer.kind, training.batch_size,
                        training.seed, data.train.size(), data.test.size(), training.num_epochs));
  }
  if (!run.is_tensor) message(stage_line(run, rank, size));

  const std::unique_ptr<Strategy> strategy = run.parallel_strategy(comm);
  Checkpoints checkpoints(run.checkpoints, rank, size, &comm.collectives());
  TrainingEvents events;
  // On stderr: the log of a resumed training is the same as that of an uninterrupted one.
  events.on_note = [&](const std::string& note) {
    fmt::print(stderr, "optC_model_parallel: rank {}: {}: {}\n", rank, run.title, note);
  };
  TrainingRecord record;
  std::string speed;
  const ResourceUse used = measured_use(comm, [&] {
    record = train_visibly(run.title, training, data, *strategy, !speaks, &checkpoints, events, &speed);
  });
  lab_run.note_part(fmt::format("{} {}", run.title, run.name), used, reference.used);

  for (std::size_t i = 0; i < record.parameters.size(); ++i) {
    if (speaks) {
      message(log::filled(epoch_line(i + 1), record.test_losses[i], record.accuracies[i], reference.test_losses[i],
                          reference.accuracies[i]));
    }
    const std::string what = fmt::format("Epoch{}", i + 1);
    const TensorMap& own = record.parameters[i];
    const TensorMap expected = expected_share(run, own, reference.parameters[i], rank, size);
    const Comparison weights = compare_parameters(own, expected);
    for (const auto& [kind, tensors] : {std::pair("actual", &own), std::pair("expected", &expected)}) {
      for (const auto& [name, tensor] : *tensors) {
        if (!lab_run.options.save_dir.empty())
          lab_run.saved[fmt::format("{}{}.{}.{}", run.title, what, kind, name)] = tensor;
      }
    }
    if (is_exact(training)) {
      match(what, weights);
    } else if (speaks) {  // rounding alone separates two right trainings: their distance is told and not judged
      message(
          fmt::format("epoch {}: float32 draws curves and has no verdict; this rank's weights are {:.1e} from one "
                      "process's (relative norm); --dtype float64 compares them",
                      i + 1, weights.relative_norm));
    }
  }
  if (speaks) message(speed);
  if (knows_losses(run, rank, size) && training.num_epochs > 0 && is_exact(training)) {
    match("Losses", compare_losses(record.losses, reference.losses));
    match("Predictions", compare(record.predictions, reference.predictions));
  }
  return record;
}

TrainingRun default_pipeline() {
  return titled("Pipeline", "gpipe");
}

TrainingRun default_tensor() {
  return titled("Tensor", "pair-norm");
}

std::vector<LabStep> program_steps(const std::vector<Section>& sections, const std::vector<TrainingRun>& trainings,
                                   const StepBody& train) {
  LabStep all_trainings;
  all_trainings.run = train;
  all_trainings.expect = [trainings](log::LogExpectation& log) {
    for (const TrainingRun& run : trainings) expect_training(log, run);
  };
  return {announcement(), checks(sections), all_trainings, done()};
}

}  // namespace lab::optc
