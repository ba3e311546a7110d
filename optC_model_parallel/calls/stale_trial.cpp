#include "optC_model_parallel/calls/stale_trial.h"

#include "optC_model_parallel/calls/case_inputs.h"
#include "optC_model_parallel/calls/chain_model.h"
#include "optC_model_parallel/model/data/batches.h"

namespace lab::optc {

TrainingOptions stale_training(std::int64_t batch_size, std::uint64_t seed) {
  TrainingOptions options;
  options.seed = seed;
  options.batch_size = batch_size;
  options.optimizer = {"sgd", 0.05, 0.5};
  return options;
}

std::vector<double> train_in_two(Strategy& strategy, const Images& images, const TrainingOptions& options) {
  const EpochBatches batches(images.size(), options.batch_size, options.seed, 0);
  std::vector<double> losses;
  const OnLoss note = [&](double loss) { losses.push_back(loss); };
  strategy.train(images, batches, {0, kFirstSteps}, note);
  strategy.train(images, batches, {kFirstSteps, batches.size() - kFirstSteps}, note);
  return losses;
}

TensorMap stale_trial(Communicator& comm, const CaseInputs& inputs, const MakeVersionRule& make_rule) {
  const PipelineOptions options = pipeline_options_of(inputs);
  TrainingOptions training = stale_training(inputs.integer("batch_size"), inputs.seed);
  training.device = inputs.device;
  const StagePlan plan = plan_of_trial(inputs, comm.size());
  const auto strategy = asynchronous_pipeline(plan, training, options.num_micro_batches,
                                              make_rule(options, comm.rank(), comm.size()), comm);
  const std::vector<double> losses = train_in_two(*strategy, images_of(inputs), training);
  TensorMap results = strategy->parameters();
  if (comm.rank() == comm.size() - 1) results["losses"] = at::tensor(losses, at::kDouble);
  return results;
}

}  // namespace lab::optc
