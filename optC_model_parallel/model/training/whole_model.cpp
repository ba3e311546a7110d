#include "optC_model_parallel/model/training/whole_model.h"

#include <utility>

#include "optC_model_parallel/model/training/batched_logits.h"

namespace lab::optc {

WholeModel::WholeModel(const TrainingOptions& options, Learner learner)
    : tensors_(options.tensors()), learner_(std::move(learner)) {}

at::Tensor WholeModel::logits(const Images& images, const OnBatch& on_batch) {
  return batched_logits(
      images, tensors_,
      [this](const at::Tensor& x) { return run_layers(learner_.model(), learner_.parameters(), x, Mode::kEvaluation); },
      on_batch);
}

at::Tensor WholeModel::mean_loss(const Parameters& parameters, const Images& images, const at::Tensor& indices) const {
  const at::Tensor x = normalized(images, indices, tensors_);
  return at::cross_entropy_loss(run_layers(learner_.model(), parameters, x, Mode::kTraining),
                                labels_of(images, indices).to(x.device()));
}

}  // namespace lab::optc
