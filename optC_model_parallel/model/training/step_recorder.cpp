#include "optC_model_parallel/model/training/step_recorder.h"

#include <algorithm>
#include <utility>

namespace lab::optc {
namespace {

TensorMap gradients_of(const Learner& learner) {
  TensorMap gradients;
  const std::vector<std::string> names = learning_names(learner.model());
  const Tensors tensors = learning(learner.model(), learner.parameters());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const at::Tensor& gradient = tensors[i].grad();
    gradients[names[i]] = (gradient.defined() ? gradient : at::zeros_like(tensors[i])).detach().clone().cpu();
  }
  return gradients;
}

}  // namespace

std::vector<std::int64_t> steps_to_record(std::int64_t num_epochs, std::int64_t steps_per_epoch) {
  // A recorded step needs memory for weights and gradients, and takes the time of two or three steps to check.
  constexpr std::int64_t kMostOfAll = 256, kMostOfEpoch = 8, kFewestOfEpoch = 2;
  if (num_epochs == 0 || steps_per_epoch == 0) return {};
  const std::int64_t wanted = std::clamp(kMostOfAll / num_epochs, kFewestOfEpoch, kMostOfEpoch);
  const std::int64_t of_epoch = std::min(wanted, steps_per_epoch);
  std::vector<std::int64_t> steps;
  for (std::int64_t epoch = 0; epoch < num_epochs; ++epoch) {
    for (std::int64_t i = 0; i < of_epoch; ++i) {
      const std::int64_t batch = of_epoch == 1 ? 0 : i * (steps_per_epoch - 1) / (of_epoch - 1);
      steps.push_back(epoch * steps_per_epoch + batch);
    }
  }
  return steps;
}

StepRecorder::StepRecorder(std::vector<std::int64_t> steps, VersionOf version_of)
    : steps_(std::move(steps)), version_of_(std::move(version_of)) {}

void StepRecorder::start(std::int64_t step) {
  next_ = step;
  steps_.erase(steps_.begin(), std::lower_bound(steps_.begin(), steps_.end(), step));
}

void StepRecorder::before_update(const Learner& learner) {
  for (auto step = std::lower_bound(steps_.begin(), steps_.end(), next_); step != steps_.end(); ++step) {
    if (version_of_(*step) > next_) break;
    if (version_of_(*step) == next_) recorded_[*step].weights = learner.tensors();
    if (*step == next_) recorded_[*step].gradient = gradients_of(learner);
  }
  ++next_;
}

const RecordedStep& StepRecorder::recorded(std::int64_t step) const {
  static const RecordedStep nothing;
  const auto found = recorded_.find(step);
  return found == recorded_.end() ? nothing : found->second;
}

}  // namespace lab::optc
