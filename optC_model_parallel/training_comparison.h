#pragma once

#include <cstdint>
#include <vector>

#include "common/tensor/comparison.h"
#include "common/tensor/tensor_map.h"
#include "optC_model_parallel/references.h"
#include "optC_model_parallel/training_record.h"
#include "optC_model_parallel/training_run.h"

namespace lab::optc {

/// How far a training on several ranks may be from the one in one process. In float64 a run is the same to 1e-10 for
/// good. In float32 its last bits, which depend on the order of summation, grow from step to step, as in any training:
/// by its own twin's measure (see Reference), 1e-5 at least, and only for one epoch.
struct TrainingTolerance {
  double parameters = 0;         ///< a relative norm
  double losses = 0;             ///< relative, of each step
  std::int64_t num_epochs = 0;   ///< so long
  double accuracy = 0;           ///< of the test images, for good
  bool same_predictions = true;  ///< for each test image, after the last epoch
};
TrainingTolerance tolerance_of(const TrainingOptions& training, const Reference& reference);

/// This rank's tensors beside what it should have of the reference's, as one long vector, held to a relative norm.
/// Errors    ContractError: other names or shapes
Comparison compare_parameters(const TensorMap& own, const TensorMap& expected, double relative_norm = 0);

/// The losses of the first steps, each relative to the reference's.
Comparison compare_losses(const std::vector<double>& own, const std::vector<double>& expected, std::int64_t num_steps,
                          double relative);

/// The largest |own - expected| / |expected| of the first steps; NaN where a loss is missing.
double largest_loss_difference(const std::vector<double>& own, const std::vector<double>& expected,
                               std::int64_t num_steps);

/// What a rank has of the reference's tensors after an epoch: those that it trained (of a pipeline), or its shards.
TensorMap expected_share(const TrainingRun& run, const TensorMap& own, const TensorMap& reference, int rank,
                         int num_ranks);

}  // namespace lab::optc
