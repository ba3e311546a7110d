#pragma once

#include <vector>

#include "common/api/communicator.h"
#include "common/api/compare.h"
#include "optC_model_parallel/commands/step_checks.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/data/images.h"
#include "optC_model_parallel/model/training/training_loop.h"

namespace lab::optc {

/// Watches a training and checks it when it is done, as far as float32 can be checked. Does nothing for a float64
/// training: that is compared as a whole (training_comparison.h).
class Float32Checks {
 public:
  /// Adds itself to the events. Everything passed by reference must outlive it.
  Float32Checks(const TrainingRun& run, const Dataset& data, Strategy& strategy, Communicator& comm,
                TrainingEvents& events);

  /// Call      collective, when the training is done
  void finish(const TrainingRecord& record);

  /// Without the steps that an earlier run took before a checkpoint.
  const std::vector<StepCheck>& steps() const { return steps_; }
  /// On ranks that know the predictions: their accuracy compared with that of float64 with the same weights. Close if
  /// every prediction is float64's, or a class whose logit is as large up to rounding.
  const Comparison& accuracy() const { return accuracy_; }
  /// Whether everything is right on this rank. In float64: true.
  bool all_right() const { return all_right_; }

 private:
  const TrainingRun& run_;
  const Dataset& data_;
  Communicator& comm_;
  StepRecorder recorder_;
  std::vector<StepCheck> steps_;
  Comparison accuracy_;
  bool all_right_ = true;
};

}  // namespace lab::optc
