#include "optC_model_parallel/calls/pipeline_calls.h"

#include <fmt/format.h>

#include <map>

#include "common/pipeline/generators.h"
#include "optC_model_parallel/calls/calls.h"
#include "optC_model_parallel/gpipe.h"
#include "optC_model_parallel/model/models.h"

namespace lab::optc {

StagePlan chain_plan(int num_ranks, int num_chunks, std::int64_t long_layers) {
  static constexpr std::int64_t kPool = 8;
  constexpr std::int64_t kLongWidth = 192;  // 70,000 operations per image and layer, for 1,536 bytes sent
  const std::int64_t num_stages = num_ranks * num_chunks;
  const std::int64_t num_layers = long_layers > 0 ? num_stages * long_layers + 2 : 2 * num_stages + 1;
  StagePlan plan{{"chain", {}}, {}, num_ranks};
  std::int64_t width = kImageChannels * (kImageSide / kPool) * (kImageSide / kPool);
  for (std::int64_t i = 0; i < num_layers; ++i) {
    const bool first = i == 0, last = i == num_layers - 1;
    const std::int64_t next_width = last ? kNumClasses : long_layers > 0 ? kLongWidth : 11 + 5 * i % 7;
    LayerSpec layer = linear_layer(fmt::format("chain{}", i), width, next_width, Activation::kNone, Fill::kHe);
    layer.forward = [first, last, linear = layer.forward](const at::Tensor& x, const Tensors& tensors, Mode mode) {
      const at::Tensor out = linear(first ? at::avg_pool2d(x, kPool) : x, tensors, mode);
      return last ? out : out.tanh();
    };
    plan.model.layers.push_back(std::move(layer));
    width = next_width;
  }
  for (std::int64_t stage = 0; stage < num_stages; ++stage) {
    Slice layers = uneven_slice(num_layers, num_stages, stage);
    if (long_layers > 0) {
      // The first and the last layer are small: each is with its neighbours.
      layers.begin = stage == 0 ? 0 : stage * long_layers + 1;
      layers.size = long_layers + (stage == 0) + (stage == num_stages - 1);
    }
    plan.stages.push_back(layers);
  }
  return plan;
}

namespace {

PipelineOptions make_pipeline_options(const CaseInputs& inputs) {
  PipelineOptions options;
  options.schedule = schedule_names().at(static_cast<std::size_t>(inputs.integer("schedule")));
  options.num_micro_batches = inputs.integer("num_micro_batches");
  options.num_chunks = static_cast<int>(inputs.integer("num_chunks"));
  options.recompute = inputs.integer("recompute") != 0;
  return options;
}

StagePlan make_plan(const CaseInputs& inputs, int num_ranks) {
  return chain_plan(num_ranks, static_cast<int>(inputs.integer("num_chunks")), inputs.integer("long_layers"));
}

Images make_images(const CaseInputs& inputs, const std::string& prefix) {
  return {inputs.tensor(prefix + "pixels").cpu(), inputs.tensor(prefix + "labels").cpu()};
}

/// A stage that computes nothing: it returns what the case's inputs say, and keeps what it is given.
class KeepingStage : public pipeline::StageWork {
 public:
  KeepingStage(const CaseInputs& inputs, bool is_first, bool is_last)
      : inputs_(inputs), is_first_(is_first), is_last_(is_last) {
    const std::int64_t num_micro_batches = inputs.integer("num_micro_batches");
    results_["num_forward_before_backward"] = at::zeros({num_micro_batches}, at::kLong);
    for (int i = 0; i < num_micro_batches; ++i) {
      if (!is_first) results_[fmt::format("input{}", i)] = at::Tensor();
      if (!is_last) results_[fmt::format("output_grad{}", i)] = at::Tensor();
    }
  }

  at::Tensor forward(int, int micro_batch, const at::Tensor& input) override {
    ++counts_["num_forward"];
    keep("input", micro_batch, input);
    return is_last_ ? at::zeros({}, at::kLong) : inputs_.tensor(fmt::format("input.output{}", micro_batch));
  }

  at::Tensor backward(int, int micro_batch, const at::Tensor& output_grad) override {
    ++counts_["num_backward"];
    results_["num_forward_before_backward"][micro_batch] = counts_["num_forward"];
    keep("output_grad", micro_batch, output_grad);
    return is_first_ ? at::Tensor() : inputs_.tensor(fmt::format("input.input_grad{}", micro_batch));
  }

  TensorMap results() const {
    TensorMap all = results_;
    for (const auto& [name, count] : counts_) all[name] = make_count(count);
    return all;
  }

 private:
  void keep(const std::string& what, int micro_batch, const at::Tensor& given) {
    counts_["num_" + what + "s"] += given.defined();
    const auto found = results_.find(fmt::format("{}{}", what, micro_batch));
    if (given.defined() && found != results_.end()) found->second = given.clone();
  }

  const CaseInputs& inputs_;
  const bool is_first_, is_last_;
  TensorMap results_;  ///< undefined: nothing was given
  std::map<std::string, std::int64_t> counts_ = {
      {"num_forward", 0}, {"num_backward", 0}, {"num_inputs", 0}, {"num_output_grads", 0}};
};

}  // namespace

TensorMap make_inputs(const Dataset& data) {
  return {{"input.train.pixels", data.train.pixels},
          {"input.train.labels", data.train.labels},
          {"input.test.pixels", data.test.pixels},
          {"input.test.labels", data.test.labels}};
}

Dataset make_dataset(const CaseInputs& inputs) {
  return {make_images(inputs, "input.train."), make_images(inputs, "input.test.")};
}

std::vector<std::int64_t> alone_shape(int stage, int micro_batch) {
  return {(micro_batch + 1) % 3, stage + 1, 2};
}

TensorMap gpipe_alone_call(Communicator& comm, const CaseInputs& inputs) {
  KeepingStage stage(inputs, comm.rank() == 0, comm.rank() == comm.size() - 1);
  gpipe(stage, comm.point_to_point(), static_cast<int>(inputs.integer("num_micro_batches")),
        [](int fed_stage, int micro_batch) { return at::empty(alone_shape(fed_stage, micro_batch), at::kLong); });
  return stage.results();
}

TensorMap pass_call(Communicator& comm, const CaseInputs& inputs, const GpipeFunction& gpipe) {
  const PipelineOptions options = make_pipeline_options(inputs);
  const auto m = static_cast<int>(options.num_micro_batches);
  const StagePlan plan = make_plan(inputs, comm.size());
  const ModelSpec own = layers_of_rank(plan, comm.rank());
  const auto tensors =
      at::TensorOptions(inputs.integer("is_float32") != 0 ? at::kFloat : at::kDouble).device(inputs.device);
  const Parameters weights = make_parameters(
      own, [&](const ParameterSpec& spec) { return inputs.tensor("weight." + spec.name).clone().to(tensors); });
  const Images images = make_images(inputs, "input.");
  const MicroBatchData batch(images, {at::arange(images.size(), at::kLong)}, m, tensors);
  PipelineStages stages(plan, weights, batch, options.recompute, comm);
  const pipeline::Buffers buffers = stage_buffers(plan, batch);
  if (options.schedule == "gpipe") {
    gpipe(stages, comm.point_to_point(), m, buffers);
  } else {
    const auto schedule = pipeline::make_schedule({options.schedule, comm.size(), m, options.num_chunks});
    run_schedule(schedule, comm.point_to_point(), stages, buffers);
  }
  TensorMap results = {{"num_live_at_the_end", make_count(stages.num_live())},
                       {"most_live", make_count(stages.most_live())}};
  if (comm.rank() == comm.size() - 1) results["loss"] = at::full({1}, stages.loss(), at::kDouble);
  const std::vector<std::string> names = learning_names(own);
  const Tensors learned = learning(own, weights);
  for (std::size_t i = 0; i < names.size(); ++i) results[names[i] + ".grad"] = learned[i].grad();
  return results;
}

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

TensorMap stale_call(Communicator& comm, const CaseInputs& inputs) {
  TrainingOptions training = stale_training(inputs.integer("batch_size"), inputs.seed);
  training.device = inputs.device;
  const auto strategy =
      pipeline_in_stages(make_plan(inputs, comm.size()), training, make_pipeline_options(inputs), comm);
  const std::vector<double> losses = train_in_two(*strategy, make_images(inputs, "input."), training);
  TensorMap results = strategy->parameters();
  if (comm.rank() == comm.size() - 1) results["losses"] = at::tensor(losses, at::kDouble);
  return results;
}

TrainingOptions pipeline_training_options(int num_ranks, std::uint64_t seed) {
  TrainingOptions options;
  options.model = num_ranks <= 5 ? "tutorial" : "deep";  // 5 layers, 8 layers
  options.seed = seed;
  options.num_epochs = kNumTrainingEpochs;
  return options;
}

TensorMap pipeline_training_results(const TrainingRecord& record, bool is_last_rank) {
  TensorMap results = list_tensors(record);
  results.erase("accuracies");  // they follow from the predictions
  if (is_last_rank) return results;
  for (const char* name : {"losses", "test_losses", "predictions"}) results.erase(name);
  return results;
}

TensorMap pipeline_training_call(Communicator& comm, const CaseInputs& inputs) {
  TrainingOptions options = pipeline_training_options(comm.size(), inputs.seed);
  options.device = inputs.device;
  PipelineOptions pipeline;
  pipeline.num_micro_batches = kTrainingMicroBatches;
  const auto strategy = pipeline_parallel(options, pipeline, comm);
  TrainingRecord record = run_training(options, make_dataset(inputs), *strategy);
  for (TensorMap& own : record.parameters) {
    // Every rank sums every tensor of the model, with zeros for those of layers that it does not have. split_layers()
    // decides which rank has which layer: one on two ranks is twice as large here, one on none is 0.
    for (const ParameterSpec& spec : parameter_specs(model_named(options.model))) {
      const auto found = own.find(spec.name);
      own[spec.name] =
          comm.collectives().all_reduce(found != own.end() ? found->second : at::zeros(spec.shape, options.dtype));
    }
  }
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
    return list_tensors(run_training(options, make_dataset(inputs), *tensor_parallel(options, comm)));
  };
}

}  // namespace lab::optc
