#include "optC_model_parallel/training_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/tensor/compare.h"
#include "common/tensor/describe.h"
#include "optC_model_parallel/step_of_all.h"
#include "optC_model_parallel/training_comparison.h"
#include "optC_model_parallel/training_loop.h"
#include "optC_model_parallel/training_progress.h"

namespace lab::optc {
namespace {

/// Of a pipeline, the last stage knows losses and predictions; of tensor parallelism, every rank does.
bool knows_losses(const TrainingRun& run, int rank, int num_ranks) {
  return run.parallelism == Parallelism::kTensor || rank == num_ranks - 1;
}

// The words of rank 0 before a training, and behind them the template by which a log is checked.
std::string words_before(const TrainingRun& run, int num_ranks, const Dataset& data) {
  const TrainingOptions& training = run.training;
  const std::string how =
      run.parallelism == Parallelism::kTensor
          ? fmt::format("{}, layers split over {} ranks", training.model, num_ranks)
          : fmt::format("{} in {} stages, {}, {} micro-batches", training.model, num_ranks * run.pipeline.num_chunks,
                        run.pipeline.schedule, run.pipeline.num_micro_batches);
  return fmt::format("{}; {}, {}, batches of {}, seed {}; {} training and {} test images, {} epochs", how,
                     dtype_name(training.dtype), training.optimizer.kind, training.batch_size, training.seed,
                     data.train.size(), data.test.size(), training.num_epochs);
}

std::string template_before(const TrainingRun& run) {
  const std::string how = run.parallelism == Parallelism::kTensor
                              ? "{word}, layers split over {number} ranks"
                              : "{word} in {number} stages, {word}, {number} micro-batches";
  return how +
         "; {word}, {word}, batches of {number}, seed {number}; {number} training and {number} test images, "
         "{number} epochs";
}

/// One rank's part in the lines.
class Lines {
 public:
  Lines(RankRun& lab_run, const CheckedTraining& training, const Reference& reference)
      : lab_run_(lab_run),
        training_(training),
        reference_(reference.record),
        twin_distances_(reference.twin_distances),
        tolerance_(tolerance_of(training.run.training, reference)) {}

  void begin(const Dataset& data) {
    if (rank() == 0) sentence(words_before(training_.run, size(), data));
  }

  void epoch(std::int64_t number, const TrainingRecord& record) {
    const auto index = static_cast<std::size_t>(number - 1);
    const TensorMap& own = record.parameters[index];
    const TensorMap expected = expected_share(training_.run, own, reference_.parameters[index], rank(), size());
    const Comparison found = compare_parameters(own, expected, tolerance_.parameters);
    const std::string prefix = fmt::format("{}Epoch{}", training_.title, number);
    if (rank() == speaker(training_.run, size())) {
      sentence(fmt::format("epoch {}: test loss {:.6f}, accuracy {:.4f}; one process: {:.6f}, {:.4f}", number,
                           record.test_losses[index], record.accuracies[index], reference_.test_losses[index],
                           reference_.accuracies[index]));
    }
    if (number <= tolerance_.num_epochs)
      lab_run_.out.match({prefix, rank(), found.close, found.max_diff, found.mean_diff});
    if (!twin_distances_.empty()) {
      sentence(
          fmt::format("epoch {}: parameters {:.1e} from one process (relative norm), which is {:.1e} from itself "
                      "when weights begin one rounding apart",
                      number, found.relative_norm, twin_distances_[index]));
    }
    save(prefix, own, expected);
  }

  void end(const TrainingRecord& record, const std::string& speed) {
    const TrainingRun& run = training_.run;
    if (rank() == speaker(run, size())) sentence(speed);
    if (!knows_losses(run, rank(), size()) || run.training.num_epochs == 0) return;
    const std::int64_t steps_per_epoch = static_cast<std::int64_t>(reference_.losses.size()) / run.training.num_epochs;
    match("Losses",
          compare_losses(record.losses, reference_.losses, tolerance_.num_epochs * steps_per_epoch, tolerance_.losses));
    if (tolerance_.same_predictions) {
      match("Predictions", compare(record.predictions, reference_.predictions));
    } else {
      match("Accuracy", compare(at::tensor({record.accuracies.back()}), at::tensor({reference_.accuracies.back()}),
                                {0, tolerance_.accuracy}));
    }
  }

 private:
  int rank() const { return lab_run_.comm.rank(); }
  int size() const { return lab_run_.comm.size(); }

  void sentence(const std::string& text) { lab_run_.out.sentence(rank(), training_.title + ": " + text); }

  void match(const std::string& what, const Comparison& found) {
    lab_run_.out.match({training_.title + what, rank(), found.close, found.max_diff, found.mean_diff});
  }

  void save(const std::string& prefix, const TensorMap& own, const TensorMap& expected) {
    if (lab_run_.options.save_dir.empty()) return;
    for (const auto& [name, tensor] : own) lab_run_.saved[prefix + ".actual." + name] = tensor;
    for (const auto& [name, tensor] : expected) lab_run_.saved[prefix + ".expected." + name] = tensor;
  }

  RankRun& lab_run_;
  const CheckedTraining& training_;
  const TrainingRecord& reference_;
  const std::vector<double>& twin_distances_;
  TrainingTolerance tolerance_;
};

}  // namespace

std::string reason_to_skip(const CheckedTraining& training, const std::string& world) {
  const bool cannot = world == "sim" && training.run.parallelism == Parallelism::kTensor;
  return cannot ? "the simulated world has no communication inside backward()" : "";
}

TrainingRecord train_beside(RankRun& lab_run, const CheckedTraining& training, const Dataset& data,
                            const Reference& reference) {
  Communicator& comm = lab_run.comm;
  const std::string reason = reason_to_skip(training, lab_run.options.world);
  if (!reason.empty()) {
    lab_run.out.skipped({training.title, comm.rank(), reason});
    return {};
  }
  Lines lines(lab_run, training, reference);
  lines.begin(data);
  const std::unique_ptr<Strategy> strategy = parallel_strategy(training.run, comm);
  Checkpoints checkpoints(training.checkpoints, comm.rank(), comm.size(), step_of_all(comm.collectives()));
  const bool speaks = comm.rank() == speaker(training.run, comm.size());
  TrainingProgress progress(training.title, training.run.training.num_epochs * data.train.size(), !speaks);
  TrainingEvents events;
  events.on_step = [&](std::int64_t num_images, double loss) { progress.step(num_images, loss); };
  const TrainingRecord record = run_training(training.run.training, data, *strategy, &checkpoints, events);
  const std::string speed = progress.text();
  for (std::size_t i = 0; i < record.parameters.size(); ++i) lines.epoch(static_cast<std::int64_t>(i) + 1, record);
  lines.end(record, speed);
  return record;
}

void expect_training(LogExpectation& log, const CheckedTraining& training) {
  const int num_ranks = log.num_ranks();
  const TrainingRun& run = training.run;
  const std::string head = "[Rank {rank}] " + training.title + ": ";
  log.add(0, ExpectedSentence{"[Rank 0] " + training.title + ": " + template_before(run)});
  ExpectedMatch match;
  const auto expect = [&](int rank, const std::string& what) {
    match.prefix = training.title + what;
    log.add(rank, match);
  };
  for (int rank = 0; rank < num_ranks; ++rank) {
    for (std::int64_t epoch = 1; epoch <= run.training.num_epochs; ++epoch) {
      if (rank == speaker(run, num_ranks)) {
        log.add(rank, ExpectedSentence{head + fmt::format("epoch {}", epoch) +
                                       ": test loss {number}, accuracy {number}; one process: {number}, {number}"});
      }
      match.max_bound = 1e-8;
      expect(rank, fmt::format("Epoch{}", epoch));
    }
    if (rank == speaker(run, num_ranks))
      log.add(rank, ExpectedSentence{head + "{number} images in {number} s, {number} images/s"});
    if (!knows_losses(run, rank, num_ranks) || run.training.num_epochs == 0) continue;
    expect(rank, "Losses");
    match.max_bound = 0;
    expect(rank, "Predictions");
  }
}

}  // namespace lab::optc
