#include "optC_model_parallel/commands/training_lines.h"

#include <fmt/format.h>

#include <cstdio>

#include "common/api/shapes.h"
#include "common/rank/measured_use.h"
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

std::string epoch_line(std::int64_t number) {
  return fmt::format("epoch {}", number) +
         ": test loss {number:.6f}, accuracy {number:.4f}; one process: {number:.6f}, {number:.4f}";
}

/// One rank's lines.
class Lines {
 public:
  Lines(RankRun& lab_run, const TrainingRun& run, const TrainingRecord& reference)
      : lab_run_(lab_run), run_(run), reference_(reference), rank_(lab_run.comm.rank()), size_(lab_run.comm.size()) {}

  void begin(const Dataset& data) {
    const TrainingOptions& training = run_.training;
    const PipelineOptions& pipeline = run_.pipeline;
    if (rank_ == 0) {
      message((run_.is_tensor ? log::filled(kTensorLine, training.model, size_)
                              : log::filled(kPipelineLine, training.model, size_ * pipeline.num_chunks,
                                            pipeline.schedule, pipeline.num_micro_batches)) +
              log::filled(kOptionsLine, dtype_name(training.dtype), training.optimizer.kind, training.batch_size,
                          training.seed, data.train.size(), data.test.size(), training.num_epochs));
    }
    if (run_.is_tensor) return;
    const RankPlan own =
        plan_of_rank(balanced_plan(model_named(training.model), size_, pipeline.num_chunks), rank_);
    const auto bytes = own.num_parameters * static_cast<std::int64_t>(c10::elementSize(training.dtype));
    message(log::filled(kStageLine, own.stages, own.layers, own.num_parameters, bytes, own.multiply_adds,
                        100 * own.share));
  }

  /// In float32 rounding alone separates two right trainings, so their distance is told and not judged.
  void epoch(std::int64_t number, const TrainingRecord& record) {
    const auto index = static_cast<std::size_t>(number - 1);
    const bool speaks = rank_ == run_.speaker(size_);
    if (speaks) {
      message(log::filled(epoch_line(number), record.test_losses[index], record.accuracies[index],
                          reference_.test_losses[index], reference_.accuracies[index]));
    }
    const std::string what = fmt::format("Epoch{}", number);
    const TensorMap& own = record.parameters[index];
    const TensorMap expected = expected_share(run_, own, reference_.parameters[index], rank_, size_);
    const Comparison weights = compare_parameters(own, expected);
    save(what, "actual", own);
    save(what, "expected", expected);
    if (is_exact(run_.training)) {
      match(what, weights);
    } else if (speaks) {
      message(fmt::format("epoch {}: float32 draws curves and has no verdict; this rank's weights are {:.1e} from one "
                          "process's (relative norm); --dtype float64 compares them",
                          number, weights.relative_norm));
    }
  }

  void end(const TrainingRecord& record, const std::string& speed) {
    if (rank_ == run_.speaker(size_)) message(speed);
    if (!knows_losses(run_, rank_, size_) || run_.training.num_epochs == 0 || !is_exact(run_.training)) return;
    match("Losses", compare_losses(record.losses, reference_.losses));
    match("Predictions", compare(record.predictions, reference_.predictions));
  }

 private:
  void message(const std::string& text) { lab_run_.out.text(rank_, run_.title + ": " + text); }

  void match(const std::string& what, const Comparison& found) {
    lab_run_.out.match({run_.title + what, rank_, found.close, found.max_diff, found.mean_diff});
  }

  void save(const std::string& what, const std::string& kind, const TensorMap& tensors) {
    if (lab_run_.options.save_dir.empty()) return;
    for (const auto& [name, tensor] : tensors)
      lab_run_.saved[fmt::format("{}{}.{}.{}", run_.title, what, kind, name)] = tensor;
  }

  RankRun& lab_run_;
  const TrainingRun& run_;
  const TrainingRecord& reference_;
  const int rank_, size_;
};

/// The lines of a right training.
/// Errors    UsageError: not in float64, whose lines alone are known in advance
void expect_training(log::LogExpectation& log, const TrainingRun& run) {
  constexpr double kMaxDiff = 1e-8;
  const int num_ranks = log.num_ranks();
  if (!is_exact(run.training)) throw UsageError("the lines of a right training are known in advance in float64 only");
  const auto text = [&](int rank, const std::string& line) {
    log.add(rank, log::rank_text(run.title + ": " + line));
  };
  const auto match_on = [&](const std::string& what, double max_diff, bool only_where_known) {
    for (int rank = 0; rank < num_ranks; ++rank) {
      if (!only_where_known || knows_losses(run, rank, num_ranks))
        log.add(rank, log::ExpectedMatch{run.title + what, true, max_diff, "", ""});
    }
  };
  text(0, std::string(run.is_tensor ? kTensorLine : kPipelineLine) + kOptionsLine);
  if (!run.is_tensor) log.add_on_every_rank(log::rank_text(run.title + ": " + kStageLine));
  for (std::int64_t epoch = 1; epoch <= run.training.num_epochs; ++epoch) {
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
  Lines lines(lab_run, run, reference);
  lines.begin(data);
  const std::unique_ptr<Strategy> strategy = run.parallel_strategy(comm);
  Checkpoints checkpoints(run.checkpoints, comm.rank(), comm.size(), &comm.collectives());
  TrainingEvents events;
  // On stderr: the log of a resumed training is the same as that of an uninterrupted one.
  events.on_note = [&](const std::string& note) {
    fmt::print(stderr, "optC_model_parallel: rank {}: {}: {}\n", comm.rank(), run.title, note);
  };
  TrainingRecord record;
  std::string speed;
  const ResourceUse used = measured_use(comm, [&] {
    record = train_visibly(run.title, run.training, data, *strategy, comm.rank() != run.speaker(comm.size()),
                           &checkpoints, events, &speed);
  });
  lab_run.note_part(fmt::format("{} {}", run.title, run.name), used, reference.used);
  for (std::size_t i = 0; i < record.parameters.size(); ++i) lines.epoch(static_cast<std::int64_t>(i) + 1, record);
  lines.end(record, speed);
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
