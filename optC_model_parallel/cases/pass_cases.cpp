
#include <fmt/format.h>

#include <algorithm>

#include "common/checks/once_per_world.h"
#include "common/tensor/exact_data.h"
#include "optC_model_parallel/calls/case_inputs.h"
#include "optC_model_parallel/calls/chain_model.h"
#include "optC_model_parallel/calls/pass_trial.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/pipeline_bounds.h"
#include "optC_model_parallel/cases/pipeline_inputs.h"
#include "optC_model_parallel/cases/tensor_bounds.h"
#include "optC_model_parallel/model/images.h"

namespace lab::optc {
namespace {

constexpr std::int64_t kAloneMicroBatches = 6;

/// A case's batch and how it goes through the pipeline.
struct PassSetup {
  std::int64_t num_images = 29;
  PipelineOptions options;
  TrialModel model = {};  ///< long_layers > 0: with bounds on work and time
};

constexpr std::int64_t kImagesOfLongMicroBatch = 32;

bool computes_long(const PassSetup& setup) {
  return setup.model.long_layers > 0;
}

PipelineOptions make_options(const PassSetup& setup, int num_ranks) {
  PipelineOptions options = setup.options;
  // Interleaved processes micro-batches in groups of as many as there are ranks.
  if (options.schedule == "interleaved") options.num_micro_batches = (computes_long(setup) ? 4 : 2) * num_ranks;
  return options;
}

/// On a number of ranks.
PipelineLoad compute_load(const PassSetup& setup, int num_ranks) {
  const PipelineOptions options = make_options(setup, num_ranks);
  const StagePlan plan = computes_long(setup) ? long_plan(num_ranks, options.num_chunks, setup.model.long_layers)
                                              : uneven_plan(num_ranks, options.num_chunks);
  const std::int64_t num_images =
      computes_long(setup) ? kImagesOfLongMicroBatch * options.num_micro_batches : setup.num_images;
  return {plan, num_images, options.num_micro_batches, setup.model.dtype, options.recompute};
}

/// The whole model and the whole batch at once. `shares`: each image's weight in the loss, [N]; undefined: the mean.
TensorMap whole_batch(const PipelineLoad& load, std::uint64_t seed, const at::Tensor& shares = {}) {
  const StagePlan& plan = load.plan;
  const Images images = random_images(load.num_images, seed);
  // With the values that the weights have in the case's dtype.
  Parameters weights = zero_parameters(plan.model, at::kDouble);
  TensorMap first = named(plan.model, first_parameters(plan.model, seed, load.dtype));
  for (auto& [name, tensor] : first) tensor = tensor.to(at::kDouble);
  assign(plan.model, weights, first);
  const at::Tensor x = normalized(images, at::arange(images.size(), at::kLong), at::kDouble);
  const at::Tensor log_probabilities = run_layers(plan.model, weights, x, Mode::kTraining).log_softmax(1);
  const at::Tensor picked = log_probabilities.gather(1, images.labels.unsqueeze(1));
  const at::Tensor loss = shares.defined() ? -picked.squeeze(1).dot(shares) : -picked.mean();
  loss.backward();
  TensorMap results = {{"loss", loss.detach().view({1})}};
  const std::vector<std::string> names = learning_names(plan.model);
  const Tensors tensors = learning(plan.model, weights);
  for (std::size_t i = 0; i < names.size(); ++i) results[names[i] + ".grad"] = tensors[i].grad().to(load.dtype);
  return results;
}

/// The largest number of this rank's micro-batches that are live at once.
std::int64_t most_live(const PipelineOptions& options, const CasePlace& place) {
  const std::int64_t total = options.num_micro_batches * options.num_chunks;
  const std::int64_t behind = place.size - 1 - place.rank;
  if (options.schedule == "gpipe") return total;
  if (options.schedule == "1f1b") return std::min(total, behind + 1);
  return std::min(total, 2 * behind + (options.num_chunks - 1) * place.size + 1);
}

/// A rank's part of what whole_batch() returns.
TensorMap pass_results(const PassSetup& setup, const CasePlace& place, const TensorMap& whole) {
  const PipelineLoad load = compute_load(setup, place.size);
  TensorMap results = {{"num_live_at_the_end", make_count(0)},
                       {"most_live", make_count(most_live(make_options(setup, place.size), place))}};
  if (place.rank == place.size - 1) results["loss"] = whole.at("loss");
  for (const std::string& name : learning_names(layers_of_rank(load.plan, place.rank)))
    results[name + ".grad"] = whole.at(name + ".grad");
  return results;
}

/// The loss as the sum over micro-batches of their means, each times the weight.
KnownMistake summed_means(const PassSetup& setup, const std::string& id, const std::string& message,
                          const std::function<double(std::int64_t num_micro_batches)>& weight) {
  return {
      id, message, [=](const CasePlace& place) {
        const PipelineLoad load = compute_load(setup, place.size);
        std::vector<at::Tensor> shares;
        for (const std::int64_t size : uneven_sizes(load.num_images, load.num_micro_batches))
          shares.push_back(at::full({size}, weight(load.num_micro_batches) / static_cast<double>(size), at::kDouble));
        return pass_results(setup, place, whole_batch(load, place.seed, at::cat(shares)));
      }};
}

/// The first micro-batch used in place of each.
KnownMistake first_micro_batch_everywhere(const PassSetup& setup) {
  return {"first_slice_everywhere",
          "only the first micro-batch counts: each turn takes its images, and not those of its own index",
          [=](const CasePlace& place) {
            const PipelineLoad load = compute_load(setup, place.size);
            const std::int64_t first = uneven_sizes(load.num_images, load.num_micro_batches).front();
            const at::Tensor shares = at::zeros({load.num_images}, at::kDouble);
            shares.narrow(0, 0, first)
                .fill_(static_cast<double>(load.num_micro_batches) / static_cast<double>(load.num_images));
            return pass_results(setup, place, whole_batch(load, place.seed, shares));
          }};
}

/// What GpipeAlone's stage of this rank returns for a micro-batch: its output, and the gradient of its input.
at::Tensor alone_output(const CasePlace& place, int micro_batch) {
  return exact_values_for_rank(alone_shape(place.rank + 1, micro_batch), at::kLong,
                               place.seed + 2 * static_cast<std::uint64_t>(micro_batch), place.rank);
}

at::Tensor alone_input_grad(const CasePlace& place, int micro_batch) {
  return exact_values_for_rank(alone_shape(place.rank, micro_batch), at::kLong,
                               place.seed + 2 * static_cast<std::uint64_t>(micro_batch) + 1, place.rank);
}

Case pass_case(const std::string& task, const std::string& name, const PassSetup& setup) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  // In float32: of sums in any order, through up to 17 layers forward and back.
  result.tolerance = by_norm(setup.model.dtype == at::kDouble ? 1e-12 : 1e-4);
  result.inputs = [setup](const CasePlace& place) {
    return pipeline_inputs(make_options(setup, place.size),
                           random_images(compute_load(setup, place.size).num_images, place.seed), place, setup.model);
  };
  result.keep_own_part = [setup](const CasePlace& place, TensorMap& inputs) {
    keep_images_of_ends("input.", place, inputs);
    keep_weights(layers_of_rank(compute_load(setup, place.size).plan, place.rank), inputs);
  };
  const OncePerWorld<TensorMap> whole(
      [setup](int size, std::uint64_t seed) { return whole_batch(compute_load(setup, size), seed); });
  result.expected = [=](const CasePlace& place) { return pass_results(setup, place, *whole.at(place)); };
  result.known_mistakes = {
      first_micro_batch_everywhere(setup),
      summed_means(
          setup, "mean_of_means",
          "the loss is the mean of the micro-batches' means: where these are not of one size, their images do not "
          "count alike; divide each micro-batch's sum by the size of the whole batch",
          [](std::int64_t num_micro_batches) { return 1.0 / static_cast<double>(num_micro_batches); }),
      summed_means(
          setup, "sum_of_means",
          "the loss is the sum of the micro-batches' means: each micro-batch is divided by its own size, not by "
          "that of the whole batch",
          [](std::int64_t) { return 1.0; })};
  result.bounds = [=](const CasePlace& place) {
    return pipeline_bounds(task, compute_load(setup, place.size), place.rank);
  };
  result.memory = [setup](const CasePlace& place) {
    return pipeline_memory(compute_load(setup, place.size), place.rank,
                           most_live(make_options(setup, place.size), place));
  };
  if (computes_long(setup)) {
    result.costly = true;
    result.work = [setup](const CasePlace& place) {
      return pipeline_work(compute_load(setup, place.size), place.rank);
    };
    result.time = [setup](int size, std::uint64_t) {
      return pipeline_time(compute_load(setup, size), setup.options.schedule);
    };
  }
  return result;
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

}  // namespace

std::vector<Case> unprinted_pass_cases() {
  const std::string one_forward_one_backward = "optC.one_forward_one_backward";
  const TrialModel one_layer{1}, four_layers{4}, float32{0, at::kFloat};
  return {pass_case("optC.gpipe", "GpipeLong", {0, {"gpipe", 8}, one_layer}),
          // So many micro-batches that all of them are far more than a stage may have live.
          pass_case(one_forward_one_backward, "OneForwardOneBackwardLong", {0, {"1f1b", 16}, one_layer}),
          // Stages whose activations are far more than their input.
          pass_case("optC.recompute", "GpipeRecomputeLong", {0, {"gpipe", 8, 1, true}, four_layers}),
          pass_case("optC.interleaved", "InterleavedLong", {0, {"interleaved", 0, 2}, one_layer}),
          pass_case("optC.gpipe", "GpipeFloat32", {29, {"gpipe", 4}, float32}),
          pass_case(one_forward_one_backward, "OneForwardOneBackwardFloat32", {29, {"1f1b", 6}, float32}),
          pass_case("optC.recompute", "GpipeRecomputeFloat32", {29, {"gpipe", 6, 1, true}, float32})};
}

Case gpipe_alone_case() {
  Case result;
  result.task = "optC.gpipe";
  result.name = result.prefix = "GpipeAlone";
  result.tolerance.rtol = result.tolerance.atol = 0;
  result.inputs = [](const CasePlace& place) {
    CaseInputs inputs;
    inputs.numbers = {{"num_micro_batches", kAloneMicroBatches}};
    for (int i = 0; i < kAloneMicroBatches; ++i) {
      if (place.rank < place.size - 1) inputs.tensors[fmt::format("input.output{}", i)] = alone_output(place, i);
      if (place.rank > 0) inputs.tensors[fmt::format("input.input_grad{}", i)] = alone_input_grad(place, i);
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
      if (!first) expected[fmt::format("input{}", i)] = alone_output({place.rank - 1, place.size, place.seed}, i);
      if (!last)
        expected[fmt::format("output_grad{}", i)] = alone_input_grad({place.rank + 1, place.size, place.seed}, i);
    }
    return expected;
  };
  result.meaning = [](const CasePlace&, const std::string& name, at::IntArrayRef index) {
    return name == "num_forward_before_backward" ? fmt::format("micro-batch {}'s", index[0]) : "";
  };
  result.bounds = alone_bounds;
  return result;
}

std::vector<Case> gpipe_cases() {
  return {gpipe_alone_case(), pass_case("optC.gpipe", "Gpipe", {29, {"gpipe", 4}}),
          pass_case("optC.gpipe", "GpipeFewImages", {3, {"gpipe", 5}}),
          pass_case("optC.gpipe", "GpipeOneMicroBatch", {7, {"gpipe", 1}}),
          pass_case("optC.recompute", "GpipeRecompute", {29, {"gpipe", 6, 1, true}})};
}

std::vector<Case> schedule_cases() {
  const std::string one_forward_one_backward = "optC.one_forward_one_backward", interleaved = "optC.interleaved";
  return {pass_case(one_forward_one_backward, "OneForwardOneBackward", {29, {"1f1b", 6}}),
          pass_case(one_forward_one_backward, "OneForwardOneBackwardFewImages", {2, {"1f1b", 3}}),
          pass_case("optC.recompute", "OneForwardOneBackwardRecompute", {29, {"1f1b", 9, 1, true}}),
          pass_case(interleaved, "Interleaved", {29, {"interleaved", 0, 2}}),
          pass_case(interleaved, "InterleavedThreeChunks", {5, {"interleaved", 0, 3}})};
}

}  // namespace lab::optc
