#pragma once

#include <cstdint>
#include <vector>

#include "common/api/communicator.h"
#include "common/api/compare.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/data/images.h"
#include "optC_model_parallel/model/training/step_recorder.h"

// What float32 can show. Two correct trainings diverge: their sums are rounded in another order, some ReLU or max-pool
// decides the other way, and from there on every step multiplies the distance. A single step does not: given the
// weights that the ranks had before it, its gradient is that of float64 up to rounding. So every recorded step is
// checked by itself, from the ranks' own weights.
namespace lab::optc {

/// One step of a float32 training, compared with the same step in float64 in one process.
struct StepCheck {
  std::int64_t step = 0;
  Comparison gradient;       ///< of this rank's tensors, as one vector
  double allowed = 0;        ///< relative norm
  double expected_loss = 0;  ///< of the batch
  RecordedStep recorded;     ///< this rank's
  TensorMap expected;        ///< this rank's gradient, float64
};

/// Several steps together. With no steps, nothing is close.
struct StepsFound {
  std::size_t num_steps = 0;
  Comparison gradients;  ///< relative_norm: the largest
  Comparison losses;     ///< compared where the rank knows them: `losses` of all steps from the first on, or empty
};
StepsFound together(const std::vector<StepCheck>& checks, const std::vector<double>& losses);

/// The checks of one epoch, counted from 1.
std::vector<StepCheck> checks_of_epoch(const std::vector<StepCheck>& checks, std::int64_t epoch,
                                       std::int64_t steps_per_epoch);

/// Which version of the weights this rank uses for a step: see StepRecorder.
StepRecorder::VersionOf version_of(const TrainingRun& run, int rank, int num_ranks, std::int64_t steps_per_epoch);

/// Checks every step that the ranks recorded, each on one rank in turn.
/// Call      collective
std::vector<StepCheck> check_steps(const TrainingRun& run, const Images& images, const StepRecorder& recorder,
                                   Communicator& comm);

/// The model's logits in float64, [N, 10], with the ranks' weights. Each rank computes a part.
/// Call      collective
at::Tensor exact_logits(const TrainingRun& run, const TensorMap& own_weights, const Images& images, Communicator& comm);

/// Which float32 predictions cannot be explained by rounding, [N] bool: neither float64's nor a class whose logit is as
/// large up to rounding.
at::Tensor wrong_predictions(const at::Tensor& predictions, const at::Tensor& exact_logits);

}  // namespace lab::optc
