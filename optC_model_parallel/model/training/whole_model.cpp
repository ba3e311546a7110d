#include "optC_model_parallel/model/training/whole_model.h"

#include <utility>

#include "optC_model_parallel/model/training/batched_logits.h"

namespace lab::optc {
namespace {

class WholeBatches : public WholeModel {
 public:
  using WholeModel::WholeModel;

  void train(const Images& images, const EpochBatches& batches, const Slice& steps, const OnLoss& on_loss) override {
    for (std::int64_t batch = steps.begin; batch < steps.end(); ++batch) {
      const at::Tensor loss = mean_loss(learner().parameters(), images, batches.indices(batch));
      on_loss(loss.item<double>());
      loss.backward();
      learner().step();
    }
  }
};

}  // namespace

std::unique_ptr<Strategy> whole_batches(const TrainingOptions& options, Learner learner) {
  return std::make_unique<WholeBatches>(options, std::move(learner));
}

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
