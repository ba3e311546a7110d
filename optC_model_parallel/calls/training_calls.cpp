#include "optC_model_parallel/calls/training_calls.h"

#include <fmt/format.h>

#include <utility>

#include "optC_model_parallel/calls/case_inputs.h"
#include "optC_model_parallel/model/training.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

/// The whole model's tensors. split_layers() decides which rank has which layer: each must be on exactly one. A layer on
/// two ranks is twice as large here, one on none is 0.
TensorMap sum_over_ranks(const TensorMap& own, const TrainingOptions& options, Collectives& comm) {
  TensorMap all;
  // Every rank sums every tensor of the model, with zeros for those of layers that it does not have.
  for (const LayerSpec& layer : model_named(options.model).layers) {
    for (const ParameterSpec& spec : layer.parameters) {
      const auto found = own.find(spec.name);
      all[spec.name] = comm.all_reduce(found != own.end() ? found->second : at::zeros(spec.shape, options.dtype));
    }
  }
  return all;
}

}  // namespace

TrainingOptions pipeline_training_options(int num_ranks, std::uint64_t seed) {
  TrainingOptions options;
  options.model = num_ranks <= 5 ? "tutorial" : "deep";  // 5 layers, 8 layers
  options.seed = seed;
  options.batch_size = 32;
  options.num_epochs = kNumTrainingEpochs;
  return options;
}

TensorMap pipeline_training_results(const TrainingRecord& record, bool is_last_rank) {
  TensorMap results;
  if (is_last_rank) {
    results = {{"losses", at::tensor(record.losses, at::kDouble)},
               {"test_losses", at::tensor(record.test_losses, at::kDouble)},
               {"predictions", record.predictions}};
  }
  for (std::size_t epoch = 0; epoch < record.parameters.size(); ++epoch) {
    for (const auto& [name, tensor] : record.parameters[epoch])
      results[fmt::format("epoch{}.{}", epoch + 1, name)] = tensor;
  }
  return results;
}

TensorMap pipeline_training_trial(Communicator& comm, const CaseInputs& inputs) {
  TrainingOptions options = pipeline_training_options(comm.size(), inputs.seed);
  options.device = inputs.device;
  PipelineOptions pipeline;
  pipeline.num_micro_batches = kTrainingMicroBatches;
  const auto strategy = pipeline_parallel(options, pipeline, comm);
  TrainingRecord record = run_training(options, make_dataset(inputs), *strategy, nullptr, {});
  for (TensorMap& parameters : record.parameters) parameters = sum_over_ranks(parameters, options, comm.collectives());
  return pipeline_training_results(record, comm.rank() == comm.size() - 1);
}

TrainingOptions tensor_training_options(const std::string& model, const CaseInputs& inputs) {
  TrainingOptions options;
  options.model = model;
  options.seed = inputs.seed;
  options.num_epochs = kNumTrainingEpochs;
  options.batch_size = inputs.integer("batch_size");
  options.optimizer.learning_rate = inputs.number("learning_rate");
  options.device = inputs.device;
  return options;
}

TaskCall tensor_training_call(const std::string& model) {
  return [=](Communicator& comm, const CaseInputs& inputs) {
    const TrainingOptions options = tensor_training_options(model, inputs);
    const auto strategy = tensor_parallel(options, comm);
    return list_tensors(run_training(options, make_dataset(inputs), *strategy, nullptr, {}));
  };
}

}  // namespace lab::optc
