#include "optC_model_parallel/cases/reference/single.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/api/errors.h"
#include "optC_model_parallel/model/training.h"
#include "optC_model_parallel/models.h"

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
std::int64_t staleness(const std::string& schedule, std::int64_t stage, std::int64_t num_stages) {
  if (schedule == "pipedream") return num_stages - 1 - stage;
  if (schedule == "pipedream-sync") return num_stages - 1;
  if (schedule == "pipedream-2bw") return 1;
  throw UsageError(
      fmt::format("stale weights: expected pipedream, pipedream-sync, or pipedream-2bw, got '{}'", schedule));
}

/// The staleness of each layer of a model.
std::vector<std::int64_t> staleness_of_layers(const std::string& schedule, const std::vector<Slice>& stages) {
  std::vector<std::int64_t> all;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const std::int64_t own =
        staleness(schedule, static_cast<std::int64_t>(stage), static_cast<std::int64_t>(stages.size()));
    if (stages[stage].begin != static_cast<std::int64_t>(all.size()))
      throw ContractError(fmt::format("stale weights: expected stage {} to begin at layer {}, got {}", stage,
                                      all.size(), stages[stage].begin));
    all.insert(all.end(), static_cast<std::size_t>(stages[stage].size), own);
  }
  return all;
}

class StaleWeights : public WholeModel {
 public:
  StaleWeights(const TrainingOptions& options, std::vector<std::int64_t> staleness_of_layer, Learner given)
      : WholeModel(options, std::move(given)), staleness_(std::move(staleness_of_layer)) {
    if (staleness_.size() != learner().model().layers.size())
      throw ContractError(fmt::format("stale weights: expected stages of {} layers, got {}",
                                      learner().model().layers.size(), staleness_.size()));
  }

  void train(const Images& images, const EpochBatches& batches, const Slice& steps, const OnLoss& on_loss) override {
    std::vector<Parameters> versions = {copy_of(learner().parameters())};  // [v]: after v updates in this call
    for (std::int64_t step = 0; step < steps.size; ++step) {
      const Parameters stale = read_weights(step, versions);
      const at::Tensor loss = mean_loss(stale, images, batches.indices(steps.begin + step));
      on_loss(loss.item<double>());
      loss.backward();
      give_gradients(stale);
      learner().step();
      versions.push_back(copy_of(learner().parameters()));
      const std::int64_t unused = step - *std::max_element(staleness_.begin(), staleness_.end());
      if (unused >= 0) versions[static_cast<std::size_t>(unused)] = {};
    }
  }

 private:
  /// The weights that each layer's stage uses for this step's forward and backward pass.
  Parameters read_weights(std::int64_t step, const std::vector<Parameters>& versions) const {
    Parameters stale;
    for (std::size_t layer = 0; layer < staleness_.size(); ++layer) {
      const auto version = static_cast<std::size_t>(std::max<std::int64_t>(0, step - staleness_[layer]));
      stale.layers.push_back(versions[version].layers[layer]);
    }
    return stale;
  }

  /// Copies the stale weights' gradients to the newest weights.
  void give_gradients(const Parameters& stale) {
    const Tensors from = learning(learner().model(), stale);
    const Tensors to = learning(learner().model(), learner().parameters());
    for (std::size_t i = 0; i < to.size(); ++i) to[i].mutable_grad() = std::exchange(from[i].mutable_grad(), {});
  }

  std::vector<std::int64_t> staleness_;  ///< of each layer
};

}  // namespace

std::unique_ptr<Strategy> stale_weights(const TrainingOptions& options, const PipelineOptions& pipeline,
                                        const std::vector<Slice>& stages) {
  return stale_weights(options, pipeline, stages, whole_learner(options));
}

std::unique_ptr<Strategy> stale_weights(const TrainingOptions& options, const PipelineOptions& pipeline,
                                        const std::vector<Slice>& stages, Learner learner) {
  return std::make_unique<StaleWeights>(options, staleness_of_layers(pipeline.schedule, stages), std::move(learner));
}

}  // namespace lab::optc
