#pragma once

#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "optC_model_parallel/images.h"
#include "optC_model_parallel/training_record.h"
#include "optC_model_parallel/training_run.h"

namespace lab::optc {

/// What a run must equal.
struct Reference {
  TrainingRecord record;  ///< of one process
  /// In float32, how far from it its twin is, after each epoch, as compare_parameters() counts it. The twin is the same
  /// training in one process, but every weight begins one rounding up or down. No parallel training can be expected to
  /// be much closer: its sums are rounded in another order at every step.
  std::vector<double> twin_distances;
  double twin_loss_difference = 0;  ///< the largest of the first epoch's steps, relative
};

/// Trains what each run must equal, each in one process: on several ranks at once, in turn. Runs with the same
/// reference_key() have the same training. Every rank then has all of them, in the order of `runs`.
/// Call      collective
std::vector<Reference> train_references(const std::vector<TrainingRun>& runs, const Dataset& data, Communicator& comm);

}  // namespace lab::optc
