#include "optC_model_parallel/cases/pass_cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/tensor/exact_data.h"
#include "optC_model_parallel/calls/case_inputs.h"
#include "optC_model_parallel/calls/chain_model.h"
#include "optC_model_parallel/calls/pass_trial.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/cases/judged_parts.h"
#include "optC_model_parallel/cases/pipeline_bounds.h"
#include "optC_model_parallel/cases/pipeline_inputs.h"
#include "optC_model_parallel/model/data/batches.h"

namespace lab::optc {
namespace {

constexpr std::int64_t kAloneMicroBatches = 6;

/// A case's batch and how it goes through the pipeline.
struct PassSetup {
  std::int64_t num_images = 29;
  PipelineOptions options;
  bool computes_long = false;  ///< through long_plan(), with bounds on work and time
};

StagePlan plan_of(const PassSetup& setup, int num_ranks) {
  return setup.computes_long ? long_plan(num_ranks, setup.options.num_chunks)
                             : uneven_plan(num_ranks, setup.options.num_chunks);
}

PipelineOptions options_of(const PassSetup& setup, const CasePlace& place) {
  PipelineOptions options = setup.options;
  // Interleaved processes micro-batches in groups of `size`.
  if (options.schedule == "interleaved") options.num_micro_batches = 2 * place.size;
  return options;
}

/// The whole model and the whole batch at once. `shares`: each image's weight in the loss, [N]; undefined: the mean.
TensorMap whole_batch(const StagePlan& plan, const Images& images, std::uint64_t seed, const at::Tensor& shares = {}) {
  const Parameters weights = first_parameters(plan.model, seed, at::kDouble);
  const at::Tensor x = normalized(images, at::arange(images.size(), at::kLong), at::kDouble);
  const at::Tensor log_probabilities = run_layers(plan.model, weights, x, Mode::kTraining).log_softmax(1);
  const at::Tensor picked = log_probabilities.gather(1, images.labels.unsqueeze(1));
  const at::Tensor loss = shares.defined() ? -picked.squeeze(1).dot(shares) : -picked.mean();
  loss.backward();
  TensorMap results = {{"loss", loss.detach().view({1})}};
  const std::vector<std::string> names = learning_names(plan.model);
  const Tensors tensors = learning(plan.model, weights);
  for (std::size_t i = 0; i < names.size(); ++i) results[names[i] + ".grad"] = tensors[i].grad();
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

TensorMap pass_results(const PassSetup& setup, const CasePlace& place, const at::Tensor& shares) {
  const PipelineOptions options = options_of(setup, place);
  const StagePlan plan = plan_of(setup, place.size);
  const TensorMap whole = whole_batch(plan, random_images(setup.num_images, place.seed), place.seed, shares);
  TensorMap results = {{"num_live_at_the_end", count_of(0)}, {"most_live", count_of(most_live(options, place))}};
  if (place.rank == place.size - 1) results["loss"] = whole.at("loss");
  for (const std::string& name : learning_names(layers_of_rank(plan, place.rank)))
    results[name + ".grad"] = whole.at(name + ".grad");
  return results;
}

/// The loss as the sum over micro-batches of their means, each times the weight.
KnownMistake summed_means(const PassSetup& setup, const std::string& id, const std::string& message,
                          const std::function<double(std::int64_t num_micro_batches)>& weight) {
  return {id, message, [=](const CasePlace& place) {
            const std::int64_t num_micro_batches = options_of(setup, place).num_micro_batches;
            std::vector<at::Tensor> shares;
            for (const std::int64_t size : uneven_sizes(setup.num_images, num_micro_batches))
              shares.push_back(at::full({size}, weight(num_micro_batches) / static_cast<double>(size), at::kDouble));
            return pass_results(setup, place, at::cat(shares));
          }};
}

/// The first micro-batch used in place of each.
KnownMistake first_micro_batch_everywhere(const PassSetup& setup) {
  return {"first_slice_everywhere",
          "only the first micro-batch counts: each turn takes its images, and not those of its own index",
          [=](const CasePlace& place) {
            const std::int64_t num_micro_batches = options_of(setup, place).num_micro_batches;
            const std::int64_t first = uneven_sizes(setup.num_images, num_micro_batches).front();
            const at::Tensor shares = at::zeros({setup.num_images}, at::kDouble);
            shares.narrow(0, 0, first).fill_(static_cast<double>(num_micro_batches) / setup.num_images);
            return pass_results(setup, place, shares);
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
  result.tolerance = by_norm(1e-12);
  result.inputs = [setup](const CasePlace& place) {
    return pipeline_inputs(options_of(setup, place), random_images(setup.num_images, place.seed), place,
                           setup.computes_long);
  };
  result.keep_own_part = [setup](const CasePlace& place, TensorMap& inputs) {
    keep_images_of_ends("input.", place, inputs);
    keep_weights_of(layers_of_rank(plan_of(setup, place.size), place.rank), inputs);
  };
  result.expected = [setup](const CasePlace& place) { return pass_results(setup, place, {}); };
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
  result.bounds = [task, setup](const CasePlace& place) {
    const PipelineOptions options = options_of(setup, place);
    return pipeline_bounds(task, plan_of(setup, place.size), place.rank, setup.num_images, options.num_micro_batches);
  };
  if (setup.computes_long) {
    result.work = [setup](const CasePlace& place) {
      return pipeline_work(plan_of(setup, place.size), place.rank, setup.num_images);
    };
    result.time = [setup](int size, std::uint64_t) {
      return pipeline_time(plan_of(setup, size), setup.options.schedule, setup.num_images,
                           setup.options.num_micro_batches);
    };
  }
  return result;
}

}  // namespace

Case gpipe_long_case() {
  Case result = pass_case("optC.gpipe", "GpipeLong", {256, {"gpipe", 8}, true});
  result.costly = true;
  return result;
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
        {"num_forward", count_of(kAloneMicroBatches)},
        {"num_backward", count_of(kAloneMicroBatches)},
        {"num_inputs", count_of(first ? 0 : kAloneMicroBatches)},
        {"num_output_grads", count_of(last ? 0 : kAloneMicroBatches)},
        {"num_forward_before_backward", at::full({kAloneMicroBatches}, kAloneMicroBatches, at::kLong)}};
    for (int i = 0; i < kAloneMicroBatches; ++i) {
      if (!first) expected[fmt::format("input{}", i)] = alone_output({place.rank - 1, place.size, place.seed}, i);
      if (!last)
        expected[fmt::format("output_grad{}", i)] = alone_input_grad({place.rank + 1, place.size, place.seed}, i);
    }
    return expected;
  };
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
