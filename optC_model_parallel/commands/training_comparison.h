#pragma once

#include <cstdint>
#include <vector>

#include "common/tensor/comparison.h"
#include "common/tensor/tensor_map.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/training/training_record.h"

namespace lab::optc {

/// How far a float64 training on several ranks may be from the one in one process: a relative norm of the weights after
/// each epoch, and relative for the loss of each step. Sums in another order begin 1e-16 apart, and the distance has not
/// come far by the end of a training (5e-16 after 10 epochs of CIFAR-10, see the README). In float32 it begins at 1e-7
/// and a ReLU decided the other way makes it 1e-4 at once: there each step is checked by itself (step_checks.h).
constexpr double kExactTraining = 1e-10;

/// Whether a training is compared as a whole.
inline bool is_exact(const TrainingOptions& training) {
  return training.dtype == at::kDouble;
}

/// This rank's tensors beside what it should have of the reference's, as one long vector, held to a relative norm.
/// Errors    ContractError: other names or shapes
Comparison compare_parameters(const TensorMap& own, const TensorMap& expected, double relative_norm = kExactTraining);

/// The losses of all steps, each relative to the reference's; NaN where one is missing.
Comparison compare_losses(const std::vector<double>& own, const std::vector<double>& expected, double relative);

/// The largest |own - expected| / |expected| of the first steps; NaN where a loss is missing.
double largest_loss_difference(const std::vector<double>& own, const std::vector<double>& expected,
                               std::int64_t num_steps);

/// What a rank has of the reference's tensors after an epoch: those that it trained (of a pipeline), or its shards.
TensorMap expected_share(const TrainingRun& run, const TensorMap& own, const TensorMap& reference, int rank,
                         int num_ranks);

}  // namespace lab::optc
