#include "optC_model_parallel/commands/float32_checks.h"

#include <cmath>

#include "optC_model_parallel/commands/training_comparison.h"
#include "optC_model_parallel/model/data/batches.h"

namespace lab::optc {
namespace {

StepRecorder recorder_of(const TrainingRun& run, std::int64_t num_images, Communicator& comm) {
  const std::int64_t steps_per_epoch = num_batches(num_images, run.training.batch_size);
  return {steps_to_record(is_exact(run.training) ? 0 : run.training.num_epochs, steps_per_epoch),
          version_of(run, comm.rank(), comm.size(), steps_per_epoch)};
}

double share_right(const at::Tensor& predictions, const at::Tensor& labels) {
  return predictions.eq(labels).to(at::kDouble).mean().item<double>();
}

}  // namespace

Float32Checks::Float32Checks(const TrainingRun& run, const Dataset& data, Strategy& strategy, Communicator& comm,
                             TrainingEvents& events)
    : run_(run), data_(data), comm_(comm), recorder_(recorder_of(run, data.train.size(), comm)) {
  if (recorder_.steps().empty()) return;
  events.on_start = [this](std::int64_t step) { recorder_.start(step); };
  strategy.watch([this](const Learner& learner) { recorder_.before_update(learner); });
}

void Float32Checks::finish(const TrainingRecord& record) {
  if (is_exact(run_.training) || record.parameters.empty()) return;
  steps_ = check_steps(run_, data_.train, recorder_, comm_);
  const StepsFound found = together(steps_, record.losses);
  all_right_ = steps_.empty() || (found.gradients.close && (record.losses.empty() || found.losses.close));
  const at::Tensor logits = exact_logits(run_, record.parameters.back(), data_.test, comm_);
  if (!record.predictions.defined()) return;
  accuracy_.close = !wrong_predictions(record.predictions, logits).any().item<bool>();
  accuracy_.max_diff = accuracy_.mean_diff =
      std::abs(share_right(record.predictions, data_.test.labels) - share_right(logits.argmax(1), data_.test.labels));
  all_right_ = all_right_ && accuracy_.close;
}

}  // namespace lab::optc
