#include "optC_model_parallel/calls/pass_trial.h"

#include <algorithm>

#include "common/pipeline/generators.h"
#include "optC_model_parallel/calls/case_inputs.h"
#include "optC_model_parallel/calls/chain_model.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/parallel/stages.h"

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

TensorMap stale_trial(Communicator& comm, const CaseInputs& inputs) {
  const PipelineOptions options = make_pipeline_options(inputs);
  TrainingOptions training = stale_training(inputs.integer("batch_size"), inputs.seed);
  training.device = inputs.device;
  const StagePlan plan = plan_of_trial(inputs, comm.size());
  const auto strategy = asynchronous_pipeline(plan, training, options.num_micro_batches,
                                              version_rule(options, comm.rank(), comm.size()), comm);
  const std::vector<double> losses = train_in_two(*strategy, make_images(inputs), training);
  TensorMap results = strategy->parameters();
  if (comm.rank() == comm.size() - 1) results["losses"] = at::tensor(losses, at::kDouble);
  return results;
}

namespace {

/// The stages, and how many micro-batches they had live at a time.
class CountedStages : public WholePasses {
 public:
  CountedStages(PipelineStages& stages, int num_chunks) : stages_(stages), num_chunks_(num_chunks) {}

  at::Tensor forward(int chunk, int micro_batch, const at::Tensor& input) override {
    at::Tensor output = stages_.forward(chunk, micro_batch, input);
    most_live = std::max(most_live, num_live());
    return output;
  }

  at::Tensor backward(int chunk, int micro_batch, const at::Tensor& output_grad) override {
    return stages_.backward(chunk, micro_batch, output_grad);
  }

  std::int64_t num_live() const {
    std::int64_t all = 0;
    for (int chunk = 0; chunk < num_chunks_; ++chunk) all += static_cast<std::int64_t>(stages_.num_live(chunk));
    return all;
  }

  std::int64_t most_live = 0;

 private:
  PipelineStages& stages_;
  const int num_chunks_;
};

}  // namespace

TensorMap pass_trial(Communicator& comm, const CaseInputs& inputs, const GpipeFunction& gpipe) {
  const PipelineOptions options = make_pipeline_options(inputs);
  const auto m = static_cast<int>(options.num_micro_batches);
  const StagePlan plan = plan_of_trial(inputs, comm.size());
  const ModelSpec own = layers_of_rank(plan, comm.rank());
  const Parameters weights = read_weights(own, inputs);
  const Images images = make_images(inputs);
  const MicroBatchData batch(images, {at::arange(images.size(), at::kLong)}, m, make_tensor_options(inputs));
  PipelineStages stages(plan, weights, options.recompute, comm);
  stages.begin(batch);
  CountedStages counted(stages, options.num_chunks);
  const pipeline::Buffers buffers = stage_buffers(plan, batch);
  if (options.schedule == "gpipe") {
    gpipe(counted, comm.point_to_point(), m, buffers);
  } else {
    const auto schedule = pipeline::make_schedule({options.schedule, comm.size(), m, options.num_chunks});
    run_schedule(schedule, comm.point_to_point(), counted, buffers);
  }
  TensorMap results = {{"num_live_at_the_end", make_count(counted.num_live())},
                       {"most_live", make_count(counted.most_live)}};
  if (comm.rank() == comm.size() - 1) results["loss"] = at::full({1}, stages.loss(), at::kDouble);
  const std::vector<std::string> names = learning_names(own);
  const Tensors tensors = learning(own, weights);
  for (std::size_t i = 0; i < names.size(); ++i) results[names[i] + ".grad"] = tensors[i].grad();
  return results;
}

}  // namespace lab::optc
