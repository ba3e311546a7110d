#include "optC_model_parallel/commands/training_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "common/api/compare.h"
#include "common/api/shapes.h"
#include "common/rank/measured_use.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/parallel/stage_plan.h"
#include "optC_model_parallel/model/training.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

/// In a pipeline, the last stage knows losses and predictions; with tensor parallelism, every rank does.
bool knows_losses(const TrainingRun& run, int rank, int num_ranks) {
  return run.parallelism == Parallelism::kTensor || rank == num_ranks - 1;
}

constexpr double kMaxDiff = 1e-8;  // of a right training in float64

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

/// The text of rank 0 before a training.
std::string text_before(const TrainingRun& run, int num_ranks, const Dataset& data) {
  const TrainingOptions& training = run.training;
  const PipelineOptions& pipeline = run.pipeline;
  const std::string how = run.parallelism == Parallelism::kTensor
                              ? log::filled(kTensorLine, training.model, num_ranks)
                              : log::filled(kPipelineLine, training.model, num_ranks * pipeline.num_chunks,
                                            pipeline.schedule, pipeline.num_micro_batches);
  return how + log::filled(kOptionsLine, dtype_name(training.dtype), training.optimizer.kind, training.batch_size,
                           training.seed, data.train.size(), data.test.size(), training.num_epochs);
}

/// The text of each rank about its stages.
std::string stage_text(const TrainingRun& run, int rank, int num_ranks) {
  const StagePlan plan = balanced_plan(model_named(run.training.model), num_ranks, run.pipeline.num_chunks);
  const RankPlan own = plan_of_rank(plan, rank);
  const auto bytes = own.num_parameters * static_cast<std::int64_t>(c10::elementSize(run.training.dtype));
  return log::filled(kStageLine, own.stages, own.layers, own.num_parameters, bytes, own.multiply_adds, 100 * own.share);
}

/// One rank's lines.
class Lines {
 public:
  Lines(RankRun& lab_run, const CheckedTraining& training, const TrainingRecord& reference)
      : lab_run_(lab_run), training_(training), reference_(reference) {}

  void begin(const Dataset& data) {
    if (rank() == 0) message(text_before(training_.run, size(), data));
    if (training_.run.parallelism == Parallelism::kPipeline) message(stage_text(training_.run, rank(), size()));
  }

  /// In float32 rounding alone separates two right trainings, so their distance is told and not judged.
  void epoch(std::int64_t number, const TrainingRecord& record) {
    const auto index = static_cast<std::size_t>(number - 1);
    const bool speaks = rank() == speaker(training_.run, size());
    if (speaks) {
      message(log::filled(epoch_line(number), record.test_losses[index], record.accuracies[index],
                          reference_.test_losses[index], reference_.accuracies[index]));
    }
    const std::string what = fmt::format("Epoch{}", number);
    const TensorMap& own = record.parameters[index];
    const TensorMap expected = expected_share(training_.run, own, reference_.parameters[index], rank(), size());
    const Comparison weights = compare_parameters(own, expected);
    save(what, "actual", own);
    save(what, "expected", expected);
    if (is_exact(training_.run.training)) {
      match(what, weights);
    } else if (speaks) {
      message(fmt::format("epoch {}: float32 draws curves and has no verdict; this rank's weights are {:.1e} from one "
                          "process's (relative norm); --dtype float64 compares them",
                          number, weights.relative_norm));
    }
  }

  void end(const TrainingRecord& record, const std::string& speed) {
    const TrainingRun& run = training_.run;
    if (rank() == speaker(run, size())) message(speed);
    if (!knows_losses(run, rank(), size()) || run.training.num_epochs == 0 || !is_exact(run.training)) return;
    match("Losses", compare_losses(record.losses, reference_.losses, kExactTraining));
    match("Predictions", compare(record.predictions, reference_.predictions));
  }

 private:
  int rank() const { return lab_run_.comm.rank(); }
  int size() const { return lab_run_.comm.size(); }

  void message(const std::string& text) { lab_run_.out.text(rank(), training_.title + ": " + text); }

  void match(const std::string& what, const Comparison& found) {
    lab_run_.out.match({training_.title + what, rank(), found.close, found.max_diff, found.mean_diff});
  }

  void save(const std::string& what, const std::string& kind, const TensorMap& tensors) {
    if (lab_run_.options.save_dir.empty()) return;
    for (const auto& [name, tensor] : tensors)
      lab_run_.saved[fmt::format("{}{}.{}.{}", training_.title, what, kind, name)] = tensor;
  }

  RankRun& lab_run_;
  const CheckedTraining& training_;
  const TrainingRecord& reference_;
};

/// The lines of a right training.
/// Errors    UsageError: not in float64, whose lines alone are known in advance
void expect_training(log::LogExpectation& log, const CheckedTraining& training) {
  const int num_ranks = log.num_ranks();
  const TrainingRun& run = training.run;
  if (!is_exact(run.training)) throw UsageError("the lines of a right training are known in advance in float64 only");
  const bool is_tensor = run.parallelism == Parallelism::kTensor;
  const auto text = [&](int rank, const std::string& line) {
    log.add(rank, log::rank_text(training.title + ": " + line));
  };
  const auto match_on = [&](const std::string& what, double max_diff, bool only_where_known) {
    for (int rank = 0; rank < num_ranks; ++rank) {
      if (!only_where_known || knows_losses(run, rank, num_ranks))
        log.add(rank, log::ExpectedMatch{training.title + what, true, max_diff, "", ""});
    }
  };
  text(0, std::string(is_tensor ? kTensorLine : kPipelineLine) + kOptionsLine);
  if (!is_tensor) log.add_on_every_rank(log::rank_text(training.title + ": " + kStageLine));
  for (std::int64_t epoch = 1; epoch <= run.training.num_epochs; ++epoch) {
    text(speaker(run, num_ranks), epoch_line(epoch));
    match_on(fmt::format("Epoch{}", epoch), kMaxDiff, false);
  }
  text(speaker(run, num_ranks), kSpeedLine);
  if (run.training.num_epochs == 0) return;
  match_on("Losses", kMaxDiff, true);
  match_on("Predictions", 0, true);
}

/// "rank 3: ...; rank 5: ...": what each rank says, without those that say nothing.
std::string damage_of_all(Collectives& comm, const std::string& own) {
  constexpr std::size_t kMostBytes = 1000;
  const at::Tensor bytes = at::zeros({static_cast<std::int64_t>(kMostBytes)}, at::kByte);
  std::memcpy(bytes.data_ptr(), own.data(), std::min(own.size(), kMostBytes - 1));
  const std::vector<at::Tensor> all = comm.all_gather(bytes);
  std::vector<std::string> damage;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string text = static_cast<const char*>(all[rank].contiguous().data_ptr());
    if (!text.empty()) damage.push_back(fmt::format("rank {}: {}", rank, text));
  }
  return fmt::format("{}", fmt::join(damage, "; "));
}

}  // namespace

Checkpoints::Agree step_of_all(Collectives& comm) {
  return [&comm](const Checkpoints::Found& found) {
    constexpr std::int64_t kMost = 2, kNone = -1;
    const at::Tensor own = at::full({kMost}, kNone, at::kLong);
    std::vector<std::int64_t> newest(found.steps);
    std::sort(newest.rbegin(), newest.rend());
    for (std::size_t i = 0; i < std::min<std::size_t>(kMost, newest.size()); ++i)
      own[static_cast<std::int64_t>(i)] = newest[i];
    const std::vector<at::Tensor> all = comm.all_gather(own);
    const auto everybody_has = [&](std::int64_t step) {
      return std::all_of(all.begin(), all.end(),
                         [&](const at::Tensor& of_rank) { return of_rank.eq(step).any().item<bool>(); });
    };
    const auto common = std::find_if(newest.begin(), newest.end(), everybody_has);
    return Checkpoints::Agreed{common == newest.end() ? kNone : *common, damage_of_all(comm, found.damage)};
  };
}

TrainingRecord train_and_compare(RankRun& lab_run, const CheckedTraining& training, const Dataset& data,
                                 const TrainingRecord& reference) {
  Communicator& comm = lab_run.comm;
  Lines lines(lab_run, training, reference);
  lines.begin(data);
  const std::unique_ptr<Strategy> strategy = parallel_strategy(training.run, comm);
  Checkpoints checkpoints(training.checkpoints, comm.rank(), comm.size(), step_of_all(comm.collectives()));
  const bool speaks = comm.rank() == speaker(training.run, comm.size());
  TrainingProgress progress(training.title, training.run.training.num_epochs * data.train.size(), !speaks);
  TrainingEvents events;
  events.on_step = [&](std::int64_t num_images, double loss) { progress.step(num_images, loss); };
  // On stderr: the log of a resumed training is the same as that of an uninterrupted one.
  events.on_note = [&](const std::string& note) {
    fmt::print(stderr, "optC_model_parallel: rank {}: {}: {}\n", comm.rank(), training.title, note);
  };
  TrainingRecord record;
  const ResourceUse used =
      measured_use(comm, [&] { record = run_training(training.run.training, data, *strategy, &checkpoints, events); });
  lab_run.note_part(fmt::format("{} {}", training.title, training.run.name), used, reference.used);
  const std::string speed = progress.text();
  for (std::size_t i = 0; i < record.parameters.size(); ++i)
    lines.epoch(static_cast<std::int64_t>(i) + 1, record);
  lines.end(record, speed);
  return record;
}

CheckedTraining default_pipeline() {
  CheckedTraining training;
  training.title = "Pipeline";
  training.run = run_named("gpipe", {}, {});
  return training;
}

CheckedTraining default_tensor() {
  CheckedTraining training;
  training.title = "Tensor";
  training.run = run_named("pair-norm", {}, {});
  return training;
}

std::vector<LabStep> program_steps(const std::vector<Section>& sections, const std::vector<CheckedTraining>& trainings,
                                   const StepBody& train) {
  LabStep all_trainings;
  all_trainings.run = train;
  all_trainings.expect = [trainings](log::LogExpectation& log) {
    for (const CheckedTraining& training : trainings) expect_training(log, training);
  };
  return {announcement(), checks(sections), all_trainings, done()};
}

}  // namespace lab::optc
