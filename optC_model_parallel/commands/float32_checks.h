#pragma once

#include <vector>

#include "common/comm/communicator.h"
#include "common/tensor/comparison.h"
#include "optC_model_parallel/commands/step_checks.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/data/images.h"
#include "optC_model_parallel/model/training/training_loop.h"

namespace lab::optc {

/// Watches a training and checks it when it is done, as far as float32 can be checked. Of a float64 training it does
/// nothing: that is compared as a whole (training_comparison.h).
class Float32Checks {
 public:
  /// Adds itself to the events. All that is given by reference must outlive it.
  Float32Checks(const TrainingRun& run, const Dataset& data, Strategy& strategy, Communicator& comm,
                TrainingEvents& events);

  /// Call      collective, when the training is done
  void finish(const TrainingRecord& record);

  /// None of the steps that an earlier run took, before a checkpoint.
  const std::vector<StepCheck>& steps() const { return steps_; }
  /// On ranks that know the predictions: their accuracy next to that of float64 with the same weights. Close: every
  /// prediction is float64's, or of a class whose logit is as large up to rounding.
  const Comparison& accuracy() const { return accuracy_; }
  /// Whether all of it is right on this rank. In float64: true.
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
