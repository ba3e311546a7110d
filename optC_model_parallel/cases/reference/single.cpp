#include "optC_model_parallel/cases/reference/single.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "common/api/errors.h"
#include "optC_model_parallel/model/models.h"

namespace lab::optc {

Learner whole_learner(const TrainingOptions& options) {
  ModelSpec model = model_named(options.model);
  Parameters first = first_parameters(model, options.seed, options.tensors());
  return {std::move(model), std::move(first), options.optimizer};
}

std::unique_ptr<Strategy> single_process(const TrainingOptions& options) {
  return whole_batches(options, whole_learner(options));
}

namespace {

/// How many updates are missing from the weights of a stage's forward pass, once an asynchronous pipeline is full.
std::int64_t staleness(const std::string& schedule, std::size_t stage, std::size_t num_stages) {
  if (schedule == "pipedream") return static_cast<std::int64_t>(num_stages - 1 - stage);
  if (schedule == "pipedream-sync") return static_cast<std::int64_t>(num_stages - 1);
  if (schedule == "pipedream-2bw") return 1;
  throw UsageError(
      fmt::format("stale weights: expected pipedream, pipedream-sync, or pipedream-2bw, got '{}'", schedule));
}

class StaleWeights : public LearnerStrategy {
 public:
  StaleWeights(const TrainingOptions& options, const std::string& schedule, const std::vector<Slice>& stages,
               Learner learner)
      : LearnerStrategy(options, std::move(learner)) {
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      if (stages[stage].begin != static_cast<std::int64_t>(staleness_.size()))
        throw ContractError(fmt::format("stale weights: expected stage {} to begin at layer {}, got {}", stage,
                                        staleness_.size(), stages[stage].begin));
      staleness_.insert(staleness_.end(), static_cast<std::size_t>(stages[stage].size),
                        staleness(schedule, stage, stages.size()));
    }
    if (staleness_.size() != learner_.model().layers.size())
      throw ContractError(fmt::format("stale weights: expected stages of {} layers, got {}",
                                      learner_.model().layers.size(), staleness_.size()));
  }

  void train(const Images& images, const EpochBatches& batches, const Slice& steps, const OnLoss& on_loss) override {
    std::vector<Parameters> versions = {copy_of(learner_.parameters())};  // [v]: after v updates in this call
    for (std::int64_t step = 0; step < steps.size; ++step) {
      Parameters stale;  // the weights that each layer's stage uses for this step's forward and backward pass
      for (std::size_t layer = 0; layer < staleness_.size(); ++layer) {
        const auto version = static_cast<std::size_t>(std::max<std::int64_t>(0, step - staleness_[layer]));
        stale.layers.push_back(versions[version].layers[layer]);
      }
      const at::Tensor loss = mean_loss(stale, images, batches.indices(steps.begin + step));
      on_loss(loss.item<double>());
      loss.backward();
      move_gradients(learner_.model(), stale, learner_.parameters());
      learner_.step();
      versions.push_back(copy_of(learner_.parameters()));
      const std::int64_t unused = step - *std::max_element(staleness_.begin(), staleness_.end());
      if (unused >= 0) versions[static_cast<std::size_t>(unused)] = {};
    }
  }

 private:
  std::vector<std::int64_t> staleness_;  ///< of each layer
};

}  // namespace

std::unique_ptr<Strategy> stale_weights(const TrainingOptions& options, const PipelineOptions& pipeline,
                                        const std::vector<Slice>& stages, Learner learner) {
  return std::make_unique<StaleWeights>(options, pipeline.schedule, stages, std::move(learner));
}

}  // namespace lab::optc
