#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/api/communicator.h"
#include "common/api/compare.h"
#include "common/api/tensor_map.h"
#include "common/checks/lab_step.h"
#include "optC_model_parallel/model/training.h"

namespace lab::optc {

/// One way to train a model on several ranks, and the one-process training that it must equal.
struct TrainingRun {
  std::string name;        ///< "gpipe", "pair-norm": unique in its log or table
  bool is_tensor = false;  ///< layers are split over ranks; otherwise a pipeline
  TrainingOptions training;
  PipelineOptions pipeline;       ///< of pipelines
  CheckpointOptions checkpoints;  ///< one drains the pipeline, which changes stale weights
  std::string title;              ///< in a log: the prefix of its lines, "Pipeline"

  bool is_stale() const;  ///< its reference uses stale weights, too
  std::string reference_name() const { return is_stale() ? name + " by formula" : "one process"; }
  /// Two runs with the same text have the same reference.
  std::string reference_key() const;
  /// The rank that knows losses and predictions and reports them: in a pipeline that of the last stage; with tensor
  /// parallelism all know them, and the first one reports.
  int speaker(int num_ranks) const { return is_tensor ? 0 : num_ranks - 1; }

  /// Errors    UsageError: as check_pipeline() or check_tensor()
  void check(int num_ranks) const;
  std::unique_ptr<Strategy> parallel_strategy(Communicator& comm) const;
  /// The training in one process that the run must equal.
  std::unique_ptr<Strategy> reference_strategy(int num_ranks) const;
};

/// The names that `compare` knows: every schedule, and every model for tensor parallelism.
std::vector<std::string> run_names();

/// The run of that name: interleaved needs a deeper model than the others, and everything else is as in `training` and
/// `pipeline`.
/// Errors    UsageError: an unknown name
TrainingRun run_named(const std::string& name, TrainingOptions training, PipelineOptions pipeline);

/// The usual model of a schedule, or a deeper one where it has fewer layers than there are stages.
std::string usual_model(const PipelineOptions& pipeline, int num_ranks);

/// The options that determine a training's numbers, as text: "tutorial, float64, seed 42, ...".
std::string describe(const TrainingOptions& training);

/// How far a float64 training on several ranks may be from the one in one process: the relative norm of the difference
/// of the weights after each epoch, and the relative difference of each step's loss. Sums in another order start 1e-16
/// apart, and the distance is still small at the end of a training (5e-16 after 10 epochs of CIFAR-10, see the README).
/// In float32 it starts at 1e-7, and a ReLU that decides the other way makes it 1e-4 at once: that proves nothing.
constexpr double kExactTraining = 1e-10;

/// Whether a training is compared as a whole.
inline bool is_exact(const TrainingOptions& training) {
  return training.dtype == at::kDouble;
}

/// Compares this rank's tensors with its part of the reference's, as one long vector, by relative norm.
/// Errors    ContractError: different names or shapes
Comparison compare_parameters(const TensorMap& own, const TensorMap& expected, double relative_norm = kExactTraining);

/// The losses of all steps, each relative to the reference's; NaN where one is missing.
Comparison compare_losses(const std::vector<double>& own, const std::vector<double>& expected,
                          double relative = kExactTraining);

/// A rank's part of the reference's tensors after an epoch: those that it trained (pipeline), or its shards.
TensorMap expected_share(const TrainingRun& run, const TensorMap& own, const TensorMap& reference, int rank,
                         int num_ranks);

/// The template of a training's speed: "4608 images in 3.1 s, 1486 images/s".
constexpr const char* kSpeedLine = "{number} images in {number:.1f} s, {number:.0f} images/s";

/// As run_training(), with a bar on stderr that shows progress, loss and speed; `quiet`: without, on ranks that leave it
/// to another. `speed`: kSpeedLine, filled in.
TrainingRecord train_visibly(const std::string& label, const TrainingOptions& options, const Dataset& data,
                             Strategy& strategy, bool quiet, Checkpoints* checkpoints = nullptr,
                             TrainingEvents events = {}, std::string* speed = nullptr);

/// Trains the reference of a run on `num_ranks` ranks. `report` is called after each step and each batch of an
/// evaluation: other ranks are waiting.
TrainingRecord train_reference(const TrainingRun& run, const Dataset& data, int num_ranks,
                               const std::function<void()>& report);

/// Trains each run's reference in one process, distributing them over the ranks. Runs with the same reference_key()
/// share one. Every rank gets all of them, in the order of `runs`.
/// Call      collective
std::vector<TrainingRecord> train_references(const std::vector<TrainingRun>& runs, const Dataset& data,
                                             Communicator& comm);

/// Trains, and prints match lines on every rank: for its parameters after each epoch and, on the ranks that know them,
/// for the losses of all steps and the predictions. In float32 only how far the parameters are from one process's. Saves
/// what was compared.
/// Call      collective
TrainingRecord train_and_compare(RankRun& lab_run, const TrainingRun& run, const Dataset& data,
                                 const TrainingRecord& reference);

/// The trainings of a run without options: "Pipeline" and "Tensor".
TrainingRun default_pipeline();
TrainingRun default_tensor();

/// A program that runs the checks of these sections, which may be none, then `train`: train_and_compare() for each of the
/// trainings. Whoever only needs the lines may leave `train` empty.
std::vector<LabStep> program_steps(const std::vector<Section>& sections, const std::vector<TrainingRun>& trainings,
                                   const StepBody& train);

}  // namespace lab::optc
