#include <fmt/format.h>

#include <algorithm>

#include "common/checks/once_per_world.h"
#include "common/tensor/exact_data.h"
#include "optC_model_parallel/calls/calls.h"
#include "optC_model_parallel/calls/pipeline_calls.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/pipeline_bounds.h"
#include "optC_model_parallel/cases/reference/single.h"
#include "optC_model_parallel/cases/tensor_bounds.h"
#include "optC_model_parallel/model/draws.h"

// Batches through pipelines of small layers, compared with the whole model in one process.
namespace lab::optc {
namespace {

/// What goes through a pipeline, and how. Of one batch the loss and all gradients are compared; of a training with an
/// asynchronous schedule the losses and the weights.
struct PipelineSetup {
  PipelineOptions options;
  std::int64_t num_images = 29;
  std::int64_t long_layers = 0;  ///< of chain_plan(); above 0: with bounds on work and time
  at::ScalarType dtype = at::kDouble;

  bool is_training() const { return is_asynchronous(options.schedule); }
  bool computes_long() const { return long_layers > 0; }
};

/// Of a mini-batch of a training; the last one of the small training has 2.
std::int64_t batch_size(const PipelineSetup& setup) {
  return setup.computes_long() ? 32 : 4;
}

/// On a number of ranks, with so many of a training's mini-batches; 0: all.
PipelineLoad make_load(const PipelineSetup& setup, int num_ranks, std::int64_t batches = 0) {
  PipelineLoad load;
  load.options = setup.options;
  load.plan = chain_plan(num_ranks, setup.options.num_chunks, setup.long_layers);
  load.dtype = setup.dtype;
  std::int64_t& m = load.options.num_micro_batches;
  if (setup.options.schedule == "pipedream-2bw") m = num_ranks + 1;
  // Interleaved processes micro-batches in groups of as many as there are ranks.
  if (setup.options.schedule == "interleaved") m = (setup.computes_long() ? 4 : 2) * num_ranks;
  load.num_images = setup.num_images;
  load.num_micro_batches = m;
  if (!setup.is_training()) {
    if (setup.computes_long()) load.num_images = 32 * m;
    return load;
  }
  if (batches == 0) batches = num_batches(setup.num_images, batch_size(setup));
  load.num_images = std::min(batches * batch_size(setup), setup.num_images);
  load.num_micro_batches = batches * m;
  return load;
}

/// Random images and labels from the seed, with nothing to learn.
CaseInputs pipeline_inputs(const PipelineSetup& setup, const CasePlace& place) {
  const PipelineLoad load = make_load(setup, place.size);
  const PipelineOptions& options = load.options;
  const Images images = random_images(load.num_images, place.seed);
  CaseInputs inputs;
  inputs.numbers = {{"num_micro_batches", static_cast<double>(options.num_micro_batches)},
                    {"num_chunks", static_cast<double>(options.num_chunks)},
                    {"recompute", options.recompute ? 1.0 : 0.0},
                    {"long_layers", static_cast<double>(setup.long_layers)},
                    {"is_float32", setup.dtype == at::kFloat ? 1.0 : 0.0}};
  const auto& names = schedule_names();
  inputs.numbers["schedule"] =
      static_cast<double>(std::find(names.begin(), names.end(), options.schedule) - names.begin());
  if (setup.is_training()) {
    inputs.seed = place.seed;
    inputs.numbers["batch_size"] = static_cast<double>(batch_size(setup));
  }
  inputs.tensors = {{"input.pixels", images.pixels}, {"input.labels", images.labels}};
  for (const ParameterSpec& spec : parameter_specs(load.plan.model))
    inputs.tensors["weight." + spec.name] = draw_parameter(spec, place.seed).to(setup.dtype);
  return inputs;
}

void keep_own_stages(const PipelineSetup& setup, const CasePlace& place, TensorMap& inputs) {
  const PipelineLoad load = make_load(setup, place.size);
  keep_images_of_ends("input.", place, inputs);
  const TensorMap all = std::exchange(inputs, {});
  for (const ParameterSpec& spec : parameter_specs(layers_of_rank(load.plan, place.rank)))
    inputs["weight." + spec.name] = all.at("weight." + spec.name);
  for (const char* name : {"input.pixels", "input.labels"}) inputs[name] = all.at(name);
  if (setup.is_training()) add_orders(setup.num_images, 1, place.seed, inputs);
}

/// The whole model and the whole batch at once. `shares`: each image's weight in the loss, [N]; undefined: the mean.
TensorMap whole_batch(const PipelineLoad& load, std::uint64_t seed, const at::Tensor& shares = {}) {
  const ModelSpec& model = load.plan.model;
  const Images images = random_images(load.num_images, seed);
  // With the values that the weights have in the case's dtype.
  const Parameters weights = make_parameters(model, [&](const ParameterSpec& spec) {
    return draw_parameter(spec, seed).to(load.dtype).to(at::kDouble);  //
  });
  const at::Tensor x = normalized(images, at::arange(images.size(), at::kLong), at::kDouble);
  const at::Tensor log_probabilities = run_layers(model, weights, x, Mode::kTraining).log_softmax(1);
  const at::Tensor picked = log_probabilities.gather(1, images.labels.unsqueeze(1));
  const at::Tensor loss = shares.defined() ? -picked.squeeze(1).dot(shares) : -picked.mean();
  loss.backward();
  TensorMap results = {{"loss", loss.detach().view({1})}};
  const std::vector<std::string> names = learning_names(model);
  const Tensors tensors = learning(model, weights);
  for (std::size_t i = 0; i < names.size(); ++i) results[names[i] + ".grad"] = tensors[i].grad().to(load.dtype);
  return results;
}

/// The training by formula: the whole model's weights, and "losses".
TensorMap emulate_training(const PipelineSetup& setup, int num_ranks, std::uint64_t seed) {
  const PipelineLoad load = make_load(setup, num_ranks);
  const TrainingOptions options = stale_training(batch_size(setup), seed);
  const auto emulation =
      stale_weights(options, load.options, load.plan.stages,
                    {load.plan.model, first_parameters(load.plan.model, seed, at::kDouble), options.optimizer});
  const std::vector<double> losses = train_in_two(*emulation, random_images(setup.num_images, seed), options);
  TensorMap results = emulation->parameters();
  results["losses"] = at::tensor(losses, at::kDouble);
  return results;
}

/// The largest number of this rank's micro-batches that are live at once.
std::int64_t most_live(const PipelineOptions& options, const CasePlace& place) {
  const std::int64_t total = options.num_micro_batches * options.num_chunks;
  const std::int64_t behind = place.size - 1 - place.rank;
  if (options.schedule == "gpipe") return total;
  if (options.schedule == "interleaved") return std::min(total, 2 * behind + (options.num_chunks - 1) * place.size + 1);
  return options.schedule == "1f1b" ? std::min(total, behind + 1) : behind + 1;
}

/// A rank's part of what whole_batch() or emulate_training() returns.
TensorMap take_own_results(const PipelineSetup& setup, const CasePlace& place, const TensorMap& whole) {
  const PipelineLoad load = make_load(setup, place.size);
  const std::string loss = setup.is_training() ? "losses" : "loss", ending = setup.is_training() ? "" : ".grad";
  TensorMap results;
  if (!setup.is_training()) {
    results = {{"num_live_at_the_end", make_count(0)}, {"most_live", make_count(most_live(load.options, place))}};
  }
  if (place.rank == place.size - 1) results[loss] = whole.at(loss);
  for (const std::string& name : learning_names(layers_of_rank(load.plan, place.rank)))
    results[name + ending] = whole.at(name + ending);
  return results;
}

/// The batch's results where each image counts by the number that belongs to its micro-batch, of `size` images of all.
KnownMistake wrong_shares(const PipelineSetup& setup, const std::string& id, const std::string& message,
                          const std::function<double(const PipelineLoad&, std::size_t index, double size)>& share) {
  return {id, message, [=](const CasePlace& place) {
            const PipelineLoad load = make_load(setup, place.size);
            const std::vector<std::int64_t> sizes = uneven_sizes(load.num_images, load.num_micro_batches);
            std::vector<at::Tensor> shares;
            for (std::size_t i = 0; i < sizes.size(); ++i)
              shares.push_back(at::full({sizes[i]}, share(load, i, static_cast<double>(sizes[i])), at::kDouble));
            return take_own_results(setup, place, whole_batch(load, place.seed, at::cat(shares)));
          }};
}

std::vector<KnownMistake> known_mistakes(const PipelineSetup& setup) {
  return {
      wrong_shares(setup, "first_slice_everywhere",
                   "only the first micro-batch counts: each turn takes its images, and not those of its own index",
                   [](const PipelineLoad& load, std::size_t index, double) {
                     return index > 0
                                ? 0
                                : static_cast<double>(load.num_micro_batches) / static_cast<double>(load.num_images);
                   }),
      wrong_shares(setup, "mean_of_means",
                   "the loss is the mean of the micro-batches' means: where these are not of one size, their images do "
                   "not count alike; divide each micro-batch's sum by the size of the whole batch",
                   [](const PipelineLoad& load, std::size_t, double size) {
                     return 1.0 / static_cast<double>(load.num_micro_batches) / size;
                   }),
      wrong_shares(setup, "sum_of_means",
                   "the loss is the sum of the micro-batches' means: each micro-batch is divided by its own size, not "
                   "by that of the whole batch",
                   [](const PipelineLoad&, std::size_t, double size) { return 1.0 / size; })};
}

/// Of a training as of 1F1B, in which p - r micro-batches are live, each with a version of the weights and its
/// gradients; and the newest version with its gradients and the optimizer's state, the weights as they were given, the
/// result, and two more versions on the way.
ShareBound bound_memory(const PipelineSetup& setup, const CasePlace& place) {
  const PipelineLoad load = make_load(setup, place.size);
  const std::int64_t num_live = most_live(load.options, place);
  ShareBound bound = pipeline_memory(load, place.rank, num_live);
  if (!setup.is_training()) return bound;
  // What vertical sync has in use on any stage; PipeDream-2BW needs two.
  const std::int64_t num_versions = setup.options.schedule == "pipedream" ? num_live : place.size;
  const std::int64_t num_weights = layers_of_rank(load.plan, place.rank).num_parameters();
  bound.most += (2 * num_versions + 7) * num_weights * static_cast<std::int64_t>(c10::elementSize(load.dtype));
  return bound;
}

/// Of a training with an update of each weight after each mini-batch, written out.
ShareBound bound_work(const PipelineSetup& setup, const CasePlace& place) {
  constexpr std::int64_t kPerWeight = 12;
  const PipelineLoad load = make_load(setup, place.size);
  ShareBound bound = pipeline_work(load, place.rank);
  if (setup.is_training())
    bound.most += kPerWeight * (load.num_micro_batches / load.options.num_micro_batches) *
                  layers_of_rank(load.plan, place.rank).num_parameters();
  return bound;
}

/// Of a training 1F1B twice, as it is drained once in between.
TimeBound bound_time(const PipelineSetup& setup, int num_ranks) {
  if (!setup.is_training()) return pipeline_time(make_load(setup, num_ranks), setup.options.schedule);
  const std::int64_t num_steps = num_batches(setup.num_images, batch_size(setup));
  const TimeBound first = pipeline_time(make_load(setup, num_ranks, kFirstSteps), "1f1b");
  const TimeBound rest = pipeline_time(make_load(setup, num_ranks, num_steps - kFirstSteps), "1f1b");
  return {first.needed_ps + rest.needed_ps, first.max_ps + rest.max_ps, first.unit};
}

Case pipeline_case(const std::string& task, const std::string& name, const PipelineSetup& setup) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  // In float32: of sums in any order, through up to 17 layers forward and back.
  result.tolerance = by_norm(setup.is_training() ? 1e-11 : setup.dtype == at::kDouble ? 1e-12 : 1e-4);
  result.inputs = [setup](const CasePlace& place) { return pipeline_inputs(setup, place); };
  result.keep_own_part = [setup](const CasePlace& place, TensorMap& inputs) { keep_own_stages(setup, place, inputs); };
  const OncePerWorld<TensorMap> whole([setup](int size, std::uint64_t seed) {
    return setup.is_training() ? emulate_training(setup, size, seed) : whole_batch(make_load(setup, size), seed);
  });
  result.expected = [=](const CasePlace& place) { return take_own_results(setup, place, *whole.at(place)); };
  if (!setup.is_training()) result.known_mistakes = known_mistakes(setup);
  result.bounds = [=](const CasePlace& place) {
    return pipeline_bounds(task, make_load(setup, place.size), place.rank);
  };
  result.memory = [setup](const CasePlace& place) { return bound_memory(setup, place); };
  if (setup.computes_long()) {
    result.costly = true;
    result.work = [setup](const CasePlace& place) { return bound_work(setup, place); };
    result.time = [setup](int size, std::uint64_t) { return bound_time(setup, size); };
  }
  return result;
}

constexpr std::int64_t kAloneMicroBatches = 6;

/// What GpipeAlone's stage of this rank returns for a micro-batch: its output, or the gradient of its input.
at::Tensor alone_result(const CasePlace& place, int micro_batch, bool is_grad) {
  const std::uint64_t seed = place.seed + 2 * static_cast<std::uint64_t>(micro_batch) + (is_grad ? 1 : 0);
  return exact_values_for_rank(alone_shape(place.rank + (is_grad ? 0 : 1), micro_batch), at::kLong, seed, place.rank);
}

/// Each micro-batch's tensors once to each neighbour: outputs to the next rank, gradients to the previous one.
std::vector<CostBound> alone_bounds(const CasePlace& place) {
  CostBound own;
  own.operation = "optC.gpipe";
  own.max_bytes_sent = own.min_bytes_received = 0;
  for (const int border : {place.rank, place.rank + 1}) {  // the stage after it
    if (border == 0 || border == place.size) continue;
    own.min_messages += kAloneMicroBatches;
    for (int i = 0; i < kAloneMicroBatches; ++i)
      own.max_bytes_sent += static_cast<std::uint64_t>(c10::multiply_integers(alone_shape(border, i))) * sizeof(double);
  }
  own.max_messages = own.min_messages;
  own.min_bytes_received = own.max_bytes_sent;  // over each border as much goes out as comes in
  std::vector<CostBound> bounds = messages_and_sums({}, place.size);
  bounds.push_back(own);
  return bounds;
}

/// gpipe() and nothing else of the lab.
Case gpipe_alone_case() {
  Case result;
  result.task = "optC.gpipe";
  result.name = result.prefix = "GpipeAlone";
  result.tolerance.rtol = result.tolerance.atol = 0;
  result.inputs = [](const CasePlace& place) {
    CaseInputs inputs;
    inputs.numbers = {{"num_micro_batches", kAloneMicroBatches}};
    for (int i = 0; i < kAloneMicroBatches; ++i) {
      if (place.rank < place.size - 1) inputs.tensors[fmt::format("input.output{}", i)] = alone_result(place, i, false);
      if (place.rank > 0) inputs.tensors[fmt::format("input.input_grad{}", i)] = alone_result(place, i, true);
    }
    return inputs;
  };
  result.expected = [](const CasePlace& place) {
    const bool first = place.rank == 0, last = place.rank == place.size - 1;
    TensorMap expected = {
        {"num_forward", make_count(kAloneMicroBatches)},
        {"num_backward", make_count(kAloneMicroBatches)},
        {"num_inputs", make_count(first ? 0 : kAloneMicroBatches)},
        {"num_output_grads", make_count(last ? 0 : kAloneMicroBatches)},
        {"num_forward_before_backward", at::full({kAloneMicroBatches}, kAloneMicroBatches, at::kLong)}};
    for (int i = 0; i < kAloneMicroBatches; ++i) {
      if (!first)
        expected[fmt::format("input{}", i)] = alone_result({place.rank - 1, place.size, place.seed}, i, false);
      if (!last)
        expected[fmt::format("output_grad{}", i)] = alone_result({place.rank + 1, place.size, place.seed}, i, true);
    }
    return expected;
  };
  result.meaning = [](const CasePlace&, const std::string& name, at::IntArrayRef index) {
    return name == "num_forward_before_backward" ? fmt::format("micro-batch {}'s", index[0]) : "";
  };
  result.bounds = alone_bounds;
  return result;
}

const std::string k1f1b = "optC.one_forward_one_backward";

}  // namespace

std::vector<Case> gpipe_cases() {
  return {gpipe_alone_case(), pipeline_case("optC.gpipe", "Gpipe", {{"gpipe", 4}}),
          pipeline_case("optC.gpipe", "GpipeFewImages", {{"gpipe", 5}, 3}),
          pipeline_case("optC.gpipe", "GpipeOneMicroBatch", {{"gpipe", 1}, 7}),
          pipeline_case("optC.recompute", "GpipeRecompute", {{"gpipe", 6, 1, true}})};
}

std::vector<Case> schedule_cases() {
  return {pipeline_case(k1f1b, "OneForwardOneBackward", {{"1f1b", 6}}),
          pipeline_case(k1f1b, "OneForwardOneBackwardFewImages", {{"1f1b", 3}, 2}),
          pipeline_case("optC.recompute", "OneForwardOneBackwardRecompute", {{"1f1b", 9, 1, true}}),
          pipeline_case("optC.interleaved", "Interleaved", {{"interleaved", 0, 2}}),
          pipeline_case("optC.interleaved", "InterleavedThreeChunks", {{"interleaved", 0, 3}, 5})};
}

std::vector<Case> stale_cases() {
  return {pipeline_case("optC.pipedream", "PipeDream", {{"pipedream", 1}, 50}),
          pipeline_case("optC.vertical_sync", "VerticalSync", {{"pipedream-sync", 1}, 50}),
          pipeline_case("optC.pipedream_2bw", "PipeDream2bw", {{"pipedream-2bw", 0}, 50})};
}

std::vector<Case> unprinted_pass_cases() {
  return {pipeline_case("optC.gpipe", "GpipeLong", {{"gpipe", 8}, 0, 1}),
          // So many micro-batches that all of them are far more than a stage may have live.
          pipeline_case(k1f1b, "OneForwardOneBackwardLong", {{"1f1b", 16}, 0, 1}),
          // Stages whose activations are far more than their input.
          pipeline_case("optC.recompute", "GpipeRecomputeLong", {{"gpipe", 8, 1, true}, 0, 4}),
          pipeline_case("optC.interleaved", "InterleavedLong", {{"interleaved", 0, 2}, 0, 1}),
          pipeline_case("optC.gpipe", "GpipeFloat32", {{"gpipe", 4}, 29, 0, at::kFloat}),
          pipeline_case(k1f1b, "OneForwardOneBackwardFloat32", {{"1f1b", 6}, 29, 0, at::kFloat}),
          pipeline_case("optC.recompute", "GpipeRecomputeFloat32", {{"gpipe", 6, 1, true}, 29, 0, at::kFloat}),
          pipeline_case("optC.pipedream", "PipeDreamLong", {{"pipedream", 1}, 14 * 32, 1})};
}

}  // namespace lab::optc
