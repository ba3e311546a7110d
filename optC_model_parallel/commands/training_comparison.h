#pragma once

#include <cstdint>
#include <vector>

#include "common/api/compare.h"
#include "common/api/tensor_map.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/training_record.h"

namespace lab::optc {

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

}  // namespace lab::optc
