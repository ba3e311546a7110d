#include "optC_model_parallel/cases/pipeline_training_case.h"

#include <fmt/format.h>

#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/pipeline_inputs.h"
#include "optC_model_parallel/model/data/generated_images.h"
#include "optC_model_parallel/model/parallel/parallel_strategies.h"
#include "optC_model_parallel/model/training/single.h"
#include "optC_model_parallel/model/training/training_loop.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

constexpr int kMostPipelineRanks = 8;

/// 5 layers for up to 5 stages, 8 for up to 8.
TrainingOptions training_on(int num_ranks, std::uint64_t seed) {
  TrainingOptions options;
  options.model = num_ranks <= 5 ? "tutorial" : "deep";
  options.seed = seed;
  options.batch_size = 32;
  options.num_epochs = 2;
  return options;
}

PipelineOptions gpipe_of_five() {
  PipelineOptions options;
  options.num_micro_batches = 5;  // 32 is not a multiple of it
  return options;
}

/// The last batch of an epoch has 8 images, the others 32. Fewer batches for the deep model: every rank also trains it
/// alone to get the expected results.
Dataset data_for(int num_ranks, std::uint64_t seed) {
  return generated_images(num_ranks <= 5 ? 104 : 40, 24, seed);
}

/// The results that only the last rank knows.
TensorMap known_results(const TrainingRecord& record) {
  return {{"losses", at::tensor(record.losses, at::kDouble)},
          {"test_losses", at::tensor(record.test_losses, at::kDouble)},
          {"predictions", record.predictions}};
}

std::string epoch_name(std::size_t epoch, const std::string& parameter) {
  return fmt::format("epoch{}.{}", epoch + 1, parameter);
}

TensorMap training_expected(const CasePlace& place) {
  const TrainingOptions options = training_on(place.size, place.seed);
  const auto single = single_process(options);
  const TrainingRecord record = run_training(options, data_for(place.size, place.seed), *single, nullptr, {});
  TensorMap results;
  if (place.rank == place.size - 1) results = known_results(record);
  for (std::size_t epoch = 0; epoch < record.parameters.size(); ++epoch) {
    for (const auto& [name, tensor] : record.parameters[epoch]) results[epoch_name(epoch, name)] = tensor;
  }
  return results;
}

}  // namespace

Case pipeline_training_case() {
  Case result;
  result.task = "optC.pipeline_training";
  result.name = result.prefix = "PipelineTraining";
  result.tolerance = by_norm(1e-10);
  result.inputs = [](const CasePlace& place) {
    CaseInputs inputs;
    inputs.seed = place.seed;
    inputs.numbers = {{"num_ranks", static_cast<double>(place.size)}};
    return inputs;
  };
  result.expected = training_expected;
  result.skip_reason = [](int size) {
    return size <= kMostPipelineRanks ? "" : fmt::format("the deepest model here has {} layers", kMostPipelineRanks);
  };
  return result;
}

TensorMap pipeline_training_trial(Communicator& comm, const CaseInputs& inputs) {
  const TrainingOptions options = training_on(comm.size(), inputs.seed);
  const auto strategy = pipeline_parallel(options, gpipe_of_five(), comm);
  const TrainingRecord record = run_training(options, data_for(comm.size(), inputs.seed), *strategy, nullptr, {});
  TensorMap results;
  if (comm.rank() == comm.size() - 1) results = known_results(record);
  // split_layers() decides which rank has which layer: each must be on exactly one. A layer on two ranks is twice as
  // large here, one on none is 0.
  for (std::size_t epoch = 0; epoch < record.parameters.size(); ++epoch) {
    for (const LayerSpec& layer : model_named(options.model).layers) {
      for (const ParameterSpec& spec : layer.parameters) {
        const auto own = record.parameters[epoch].find(spec.name);
        const bool is_here = own != record.parameters[epoch].end();
        results[epoch_name(epoch, spec.name)] =
            comm.collectives().all_reduce(is_here ? own->second : at::zeros(spec.shape, options.dtype));
      }
    }
  }
  return results;
}

}  // namespace lab::optc
