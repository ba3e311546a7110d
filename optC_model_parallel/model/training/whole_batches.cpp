#include "optC_model_parallel/model/training/whole_batches.h"

#include <utility>

#include "optC_model_parallel/model/training/whole_model.h"

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

}  // namespace lab::optc
