#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "common/api/tensor_map.h"
#include "optC_model_parallel/model/training/learner.h"

namespace lab::optc {

/// One step of a training as a rank took it.
struct RecordedStep {
  TensorMap weights;   ///< used by its forward and backward passes
  TensorMap gradient;  ///< used by its update, of every tensor that learns
};

/// Which steps of each epoch to record: the first, the last, and some evenly spread between them.
std::vector<std::int64_t> steps_to_record(std::int64_t num_epochs, std::int64_t steps_per_epoch);

/// Watches a rank's updates and records some of them.
class StepRecorder {
 public:
  /// How many updates are in the weights with which this rank computes the step: the step's own number, or fewer if the
  /// weights are stale.
  using VersionOf = std::function<std::int64_t(std::int64_t step)>;

  StepRecorder(std::vector<std::int64_t> steps, VersionOf version_of);

  /// The training starts or resumes at this step: earlier ones cannot be recorded.
  void start(std::int64_t step);
  void before_update(const Learner& learner);

  /// The steps to record, without those before the start.
  const std::vector<std::int64_t>& steps() const { return steps_; }
  /// What was recorded of a step; nothing if it had no update.
  const RecordedStep& recorded(std::int64_t step) const;

 private:
  std::vector<std::int64_t> steps_;
  VersionOf version_of_;
  std::int64_t next_ = 0;  ///< the step whose update comes next
  std::map<std::int64_t, RecordedStep> recorded_;
};

}  // namespace lab::optc
