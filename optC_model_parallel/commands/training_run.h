#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/api/communicator.h"
#include "common/api/compare.h"
#include "common/api/tensor_map.h"
#include "common/cli/progress.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/training.h"
#include "optC_model_parallel/model/training_record.h"
#include "optC_model_parallel/strategy.h"

namespace lab::optc {

enum class Parallelism { kPipeline, kTensor };

/// One way to train a model on several ranks, and the one-process training that it must equal.
struct TrainingRun {
  std::string name;  ///< "gpipe", "pair-norm": unique in its log or table
  Parallelism parallelism = Parallelism::kPipeline;
  TrainingOptions training;
  PipelineOptions pipeline;           ///< of pipelines
  std::int64_t checkpoint_every = 0;  ///< steps; a checkpoint drains the pipeline, which changes stale weights

  bool is_stale() const;  ///< its reference uses stale weights, too
};

/// The names that `compare` knows: every schedule, and every model for tensor parallelism.
std::vector<std::string> run_names();

/// The run of that name: interleaved needs a deeper model than the others, and everything else is as in `training` and
/// `pipeline`.
/// Errors    UsageError: an unknown name
TrainingRun run_named(const std::string& name, TrainingOptions training, PipelineOptions pipeline);

/// The usual model of a schedule, or a deeper one where it has fewer layers than there are stages.
std::string usual_model(const PipelineOptions& pipeline, int num_ranks);

/// The optimizer options that the user set; the others keep their defaults.
struct ChosenOptimizer {
  std::optional<std::string> kind;
  std::optional<double> learning_rate;
  std::optional<double> momentum;
};

/// vit's default is Adam with a learning rate of 1e-3, that of all other models is OptimizerOptions{}.
OptimizerOptions optimizer_for(const std::string& model, const ChosenOptimizer& chosen);

/// Errors    UsageError: as check_pipeline() or check_tensor()
void check_run(const TrainingRun& run, int num_ranks, bool has_model_option = true);

std::unique_ptr<Strategy> parallel_strategy(const TrainingRun& run, Communicator& comm);

/// The training in one process that the run must equal.
std::unique_ptr<Strategy> reference_strategy(const TrainingRun& run, int num_ranks);

/// The rank that knows losses and predictions and reports them: in a pipeline that of the last stage; with tensor
/// parallelism all know them, and the first one reports.
int speaker(const TrainingRun& run, int num_ranks);

/// Two runs with the same text have the same reference.
std::string reference_key(const TrainingRun& run);

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
Comparison compare_losses(const std::vector<double>& own, const std::vector<double>& expected, double relative);

/// The largest |own - expected| / |expected| of the first steps; NaN where a loss is missing.
double largest_loss_difference(const std::vector<double>& own, const std::vector<double>& expected,
                               std::int64_t num_steps);

/// A rank's part of the reference's tensors after an epoch: those that it trained (pipeline), or its shards.
TensorMap expected_share(const TrainingRun& run, const TensorMap& own, const TensorMap& reference, int rank,
                         int num_ranks);

/// Trains the reference of a run on `num_ranks` ranks. `report` is called after each step and each batch of an
/// evaluation: other ranks are waiting.
TrainingRecord train_reference(const TrainingRun& run, const Dataset& data, int num_ranks,
                               const std::function<void()>& report);

/// Trains each run's reference in one process, distributing them over the ranks. Runs with the same reference_key()
/// share one. Every rank gets all of them, in the order of `runs`.
/// Call      collective
std::vector<TrainingRecord> train_references(const std::vector<TrainingRun>& runs, const Dataset& data,
                                             Communicator& comm);

/// The template of TrainingProgress::text().
constexpr const char* kSpeedLine = "{number} images in {number:.1f} s, {number:.0f} images/s";

/// A training's progress, loss and speed: a bar on stderr, and the figures on request. `quiet`: no bar, for ranks that
/// leave it to another.
class TrainingProgress {
 public:
  TrainingProgress(const std::string& label, std::int64_t num_images, bool quiet = false);

  /// A step is done.
  void step(std::int64_t num_images, double loss);

  std::int64_t num_images() const { return num_images_; }
  double seconds() const;
  /// "4608 images in 3.1 s, 1486 images/s": kSpeedLine, filled in.
  std::string text() const;

 private:
  std::chrono::steady_clock::time_point start_;
  std::int64_t num_images_ = 0;
  bool quiet_;
  cli::Progress bar_;
};

}  // namespace lab::optc
