#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/launch/run_ranks.h"
#include "optC_model_parallel/lab_options.h"
#include "optC_model_parallel/training_record.h"
#include "optC_model_parallel/training_run.h"

namespace lab::optc {

/// One run beside its reference, of all ranks together.
struct ComparedRun {
  TrainingRun run;
  TrainingRecord parallel;        ///< as the rank that knows losses saw it; no parameters
  TrainingRecord reference;       ///< likewise
  std::vector<double> distances;  ///< after each epoch: ||parallel - reference|| / ||reference||, over all tensors
  /// In float32: whether each rank found its steps and predictions right, and the largest relative distance of one of
  /// its gradients from float64's. In float64: true and 0.
  bool steps_are_right = true;
  double gradient_distance = 0;
};

/// Trains the references and the runs, in one world of processes. Call      the process has no thread pool yet
/// Errors    raises what a rank failed with
std::vector<ComparedRun> compare_runs(const std::vector<TrainingRun>& runs, const LabOptions& options, int num_ranks,
                                      double timeout_seconds);

}  // namespace lab::optc
