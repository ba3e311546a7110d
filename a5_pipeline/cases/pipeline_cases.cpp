#include <fmt/format.h>

#include <algorithm>

#include "a5_pipeline/cases/cases.h"
#include "a5_pipeline/cases/reference.h"
#include "a5_pipeline/comparisons.h"
#include "a5_pipeline/data_loader.h"
#include "a5_pipeline/model.h"
#include "common/api/partition.h"
#include "common/checks/once_per_world.h"
#include "common/pipeline/generators.h"
#include "common/pipeline/model_costs.h"

namespace lab::a5 {
namespace {

/// A case's model and schedule. More layers than stages, unevenly split, for any number of ranks.
struct Setup {
  at::ScalarType dtype = at::kFloat;
  std::string kind = {};  ///< of the schedule; empty: the student's own loop
  int num_chunks = 1;
  bool computes_long = false;  ///< equal stages whose work takes many times as long as their messages
  std::int64_t micro_batch_size = 2;
  bool other_sizes = false;       ///< none is that of the first case
  bool has_many_batches = false;  ///< more micro-batches than any other case, and than ranks
  bool has_one_batch = false;     ///< a single micro-batch, the whole batch

  /// The handout's ReLU only where no rounding flips it: of its 10^5 inputs one in 10^15 is that close to 0.
  Activation activation() const { return dtype == at::kDouble ? Activation::kRelu : Activation::kTanh; }
};

Setup with_other_sizes(Setup setup, std::int64_t micro_batch_size) {
  setup.micro_batch_size = micro_batch_size;
  setup.other_sizes = true;
  return setup;
}

PipelineArguments make_arguments(const Setup& setup, const CasePlace& place) {
  PipelineArguments arguments;
  arguments.micro_batch_size = setup.micro_batch_size;
  arguments.sequence_length = 3;
  arguments.hidden_size = 16;
  arguments.intermediate_size = 40;
  arguments.number_of_layers = std::max(2, setup.num_chunks) * place.size + 1;
  std::int64_t num_micro_batches = 5;
  if (setup.other_sizes) {
    arguments.sequence_length = 5;
    arguments.hidden_size = 10;
    arguments.intermediate_size = 24;
    arguments.number_of_layers += place.size;
    num_micro_batches = 6;
  }
  if (setup.computes_long) {
    arguments.sequence_length = 64 / setup.micro_batch_size;
    arguments.hidden_size = 64;
    arguments.intermediate_size = 128;
    arguments.number_of_layers = setup.num_chunks * place.size;
    num_micro_batches = 8;
  }
  if (setup.has_many_batches) num_micro_batches = 19;
  if (setup.has_one_batch) num_micro_batches = 1;
  // Interleaved takes micro-batches in groups of one per rank.
  if (setup.num_chunks > 1) num_micro_batches = 2 * place.size;
  arguments.global_batch_size = num_micro_batches * arguments.micro_batch_size;
  arguments.seed = place.seed;
  arguments.dtype = setup.dtype;
  arguments.activation = setup.activation();
  return arguments;
}

CaseInputs make_inputs(const Setup& setup, const CasePlace& place) {
  const PipelineArguments arguments = make_arguments(setup, place);
  CaseInputs inputs;
  inputs.seed = place.seed;
  inputs.numbers = {{"global_batch_size", static_cast<double>(arguments.global_batch_size)},
                    {"micro_batch_size", static_cast<double>(arguments.micro_batch_size)},
                    {"num_micro_batches", static_cast<double>(arguments.number_of_micro_batches())},
                    {"sequence_length", static_cast<double>(arguments.sequence_length)},
                    {"hidden_size", static_cast<double>(arguments.hidden_size)},
                    {"intermediate_size", static_cast<double>(arguments.intermediate_size)},
                    {"number_of_layers", static_cast<double>(arguments.number_of_layers)},
                    {"is_float64", setup.dtype == at::kDouble ? 1.0 : 0.0},
                    {"is_relu", setup.activation() == Activation::kRelu ? 1.0 : 0.0},
                    {"num_chunks", static_cast<double>(setup.num_chunks)}};
  for (std::size_t i = 0; i < pipeline::schedule_kinds().size(); ++i) {
    if (pipeline::schedule_kinds()[i] == setup.kind) inputs.numbers["schedule_kind"] = static_cast<double>(i);
  }
  if (setup.has_many_batches) inputs.numbers["returns_first"] = 1;
  // The tasks draw these themselves, from the seed. They are here for --save, as outputs and gradients follow from
  // them, and for judged ranks, which are sent their part of them.
  for (const auto& [name, weight] : Model(arguments, all_layers(arguments)).weights())
    inputs.tensors["weight." + name] = weight.detach();
  const DataLoader data(arguments);
  for (std::int64_t i = 0; i < data.size(); ++i)
    inputs.tensors[fmt::format("input.micro_batch{}", i)] = data.micro_batch(i);
  return inputs;
}

Case make_case(const std::string& task, const std::string& name, const Setup& setup) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  // For as many layers as 32 ranks have, on any number of ranks; mistakes are far beyond it.
  result.tolerance = tolerance_of(make_arguments(setup, {0, 32, 0}));
  result.inputs = [setup](const CasePlace& place) { return make_inputs(setup, place); };
  return result;
}

void add_gradients(const Reference& reference, std::int64_t layer, TensorMap& results) {
  for (const char* weight : {"fc1", "fc2"}) {
    const std::string name = fmt::format("layer{}.{}", layer, weight);
    results[name + ".grad"] = reference.gradients.at(name);
  }
}

/// What a model's weights and micro-batches take.
struct Sizes {
  std::int64_t num_layers, layer_weights;
  std::int64_t layer_activations;  ///< what a micro-batch keeps alive in a layer until its backward pass
  std::int64_t output;             ///< of a micro-batch, or its input
};

Sizes list_sizes(const Setup& setup, const CasePlace& place) {
  const PipelineArguments arguments = make_arguments(setup, place);
  const auto element_bytes = static_cast<std::int64_t>(c10::elementSize(setup.dtype));
  const std::int64_t hidden = arguments.hidden_size * element_bytes;
  const std::int64_t rows = arguments.micro_batch_size * arguments.sequence_length;
  return {arguments.number_of_layers, 2 * hidden * arguments.intermediate_size,
          rows * (hidden + arguments.intermediate_size * element_bytes), rows * hidden};
}

/// The weights and their gradients; all inputs and outputs, and the activations of one micro-batch. Two more, and twice a
/// layer's weights, for what is made on the way.
ShareBound memory_of_baseline(const Setup& setup, const CasePlace& place) {
  const Sizes sizes = list_sizes(setup, place);
  const std::int64_t m = make_arguments(setup, place).number_of_micro_batches();
  const std::int64_t weights = 2 * sizes.num_layers * sizes.layer_weights, data = 2 * m * sizes.output;
  return {weights + data + m * sizes.num_layers * sizes.layer_activations,
          weights + data + 2 * sizes.layer_weights + 3 * sizes.num_layers * sizes.layer_activations};
}

Case baseline_case(const std::string& name, const Setup& setup) {
  Case result = make_case("a5.baseline", name, setup);
  if (setup.has_many_batches)
    result.memory = [setup](const CasePlace& place) { return memory_of_baseline(setup, place); };
  result.only_rank_zero = true;  // which reads everything
  result.expected = [setup](const CasePlace& place) {
    const Reference reference = compute_reference(make_arguments(setup, place));
    TensorMap results = {{"outputs", at::stack(reference.outputs)}};
    if (setup.has_many_batches) results["outputs.first"] = reference.outputs.front();
    for (std::int64_t layer = 0; layer < make_arguments(setup, place).number_of_layers; ++layer)
      add_gradients(reference, layer, results);
    return results;
  };
  return result;
}

/// The layers of each of a rank's chunks.
std::vector<Slice> layers_of_chunks(const PipelineArguments& arguments, int num_chunks, const CasePlace& place) {
  std::vector<Slice> chunks;
  for (int chunk = 0; chunk < num_chunks; ++chunk) {
    chunks.push_back(
        uneven_slice(arguments.number_of_layers, place.size * num_chunks, chunk * place.size + place.rank));
  }
  return chunks;
}

/// A judged rank is sent the weights of its own stages, which distribute_layers() fixes, and the micro-batches if it
/// has the first stage; the other stages compute on what they receive, and the loss needs no labels.
void keep_own_stages(const Setup& setup, const CasePlace& place, TensorMap& inputs) {
  const PipelineArguments arguments = make_arguments(setup, place);
  TensorMap own;
  for (const Slice& layers : layers_of_chunks(arguments, setup.num_chunks, place)) {
    for (std::int64_t layer = layers.begin; layer < layers.end(); ++layer) {
      for (const char* weight : {"fc1", "fc2"}) {
        const std::string name = fmt::format("weight.layer{}.{}", layer, weight);
        own[name] = inputs.at(name);
      }
    }
  }
  for (std::int64_t i = 0; place.rank == 0 && i < arguments.number_of_micro_batches(); ++i) {
    const std::string name = fmt::format("input.micro_batch{}", i);
    own[name] = inputs.at(name);
  }
  inputs = std::move(own);
}

/// Outputs on the last rank; on each rank the gradients of its chunks' layers.
TensorMap take_part(const Reference& reference, const PipelineArguments& arguments, int num_chunks,
                    const CasePlace& place) {
  TensorMap results;
  const bool last = place.rank == place.size - 1;
  const std::int64_t num_outputs = last ? arguments.number_of_micro_batches() : 0;
  results["number_of_outputs"] = at::full({1}, num_outputs, at::kLong);
  if (last) results["outputs"] = at::stack(reference.outputs);
  for (const Slice& layers : layers_of_chunks(arguments, num_chunks, place)) {
    for (std::int64_t layer = layers.begin; layer < layers.end(); ++layer) add_gradients(reference, layer, results);
  }
  return results;
}

/// What a loop leaves that ends one micro-batch too early.
KnownMistake leave_last_out(const Setup& setup) {
  return {"last_left_out", "the last micro-batch is left out: a loop over them ends one too early",
          [setup](const CasePlace& place) {
            PipelineArguments arguments = make_arguments(setup, place);
            arguments.global_batch_size -= arguments.micro_batch_size;
            return take_part(compute_reference(arguments), arguments, setup.num_chunks, place);
          }};
}

/// What each stage computes for a micro-batch of x rows: two products of 2 x H I operations forward, and for each a
/// gradient of its input and one of its weight.
std::vector<pipeline::StageWorkload> workloads(const PipelineArguments& arguments, int num_stages) {
  const std::int64_t product =
      2 * arguments.micro_batch_size * arguments.sequence_length * arguments.hidden_size * arguments.intermediate_size;
  std::vector<pipeline::StageWorkload> stages;
  for (int stage = 0; stage < num_stages; ++stage) {
    const std::int64_t products = 2 * product * uneven_slice(arguments.number_of_layers, num_stages, stage).size;
    stages.push_back({products, products, products});
  }
  return stages;
}

// Over a pipeline's work and makespan: recomputing the forward pass takes a third more, a last stage that goes back only
// once, through the sum of all losses, half as much again on 2 stages. Everything on each of two ranks is twice the work,
// one stage after the other 16/9 of the makespan, and over twice as much on 3 ranks or more. In the forward passes alone
// one after the other takes 21/33 more on 4 ranks, and messages, where the sum of all losses takes 14/33 more.
std::int64_t with_room(std::int64_t needed) {
  return needed + 3 * needed / 5;
}

/// The products of a rank's stages, and room for what is not a product.
ShareBound bound_work(const Setup& setup, const CasePlace& place) {
  const PipelineArguments arguments = make_arguments(setup, place);
  const std::vector<pipeline::StageWorkload> stages = workloads(arguments, place.size * setup.num_chunks);
  std::int64_t all = 0, own = 0;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const std::int64_t flops = 3 * stages[stage].forward * arguments.number_of_micro_batches();
    all += flops;
    if (static_cast<int>(stage) % place.size == place.rank) own += flops;
  }
  return {all, with_room(own)};
}

/// A stage's weights and their gradients, and what a micro-batch keeps alive until its backward pass: the input of each
/// layer, what its activation returns, and the stage's output. All micro-batches are live when the last one has gone
/// forward; two more, and twice the largest layer's weights, for what is made on the way.
ShareBound bound_memory(const Setup& setup, const CasePlace& place) {
  const auto [num_layers, weights, of_layer, output] = list_sizes(setup, place);
  const std::int64_t m = make_arguments(setup, place).number_of_micro_batches();
  const std::int64_t own_layers = uneven_slice(num_layers, place.size, place.rank).size;
  return {2 * num_layers * weights + m * (num_layers * of_layer + output),
          2 * (own_layers + 1) * weights + (m + 2) * (own_layers * of_layer + output)};
}

/// A pipeline's makespan, and room for what is not a product and for messages that are awaited in place.
TimeBound bound_time(const Setup& setup, int size) {
  const PipelineArguments arguments = make_arguments(setup, {0, size, 0});
  pipeline::ScheduleOptions options;
  if (!setup.kind.empty()) options.kind = setup.kind;
  options.num_ranks = size;
  options.num_micro_batches = static_cast<int>(arguments.number_of_micro_batches());
  options.num_chunks = setup.num_chunks;
  const pipeline::Schedule schedule = pipeline::make_schedule(options);
  const std::int64_t elements = arguments.micro_batch_size * arguments.sequence_length * arguments.hidden_size;
  const std::int64_t needed = makespan_ps(
      schedule, pipeline::costs_in_model_time(workloads(arguments, schedule.num_stages()),
                                              elements * static_cast<std::int64_t>(c10::elementSize(setup.dtype))));
  return {needed, with_room(needed), "stage"};
}

/// What travels: each micro-batch once over each border between stages of different ranks, in each direction.
CostBound traffic(const Setup& setup, const std::string& task, const CasePlace& place) {
  const PipelineArguments arguments = make_arguments(setup, place);
  std::int64_t sends = 0;
  for (int chunk = 0; chunk < setup.num_chunks && place.size > 1; ++chunk) {
    const int stage = chunk * place.size + place.rank;
    sends += (stage > 0) + (stage < place.size * setup.num_chunks - 1);
  }
  CostBound bound;
  bound.operation = task;
  bound.min_messages = bound.max_messages = static_cast<std::uint64_t>(sends * arguments.number_of_micro_batches());
  const std::int64_t elements = arguments.micro_batch_size * arguments.sequence_length * arguments.hidden_size;
  bound.max_bytes_sent = bound.max_messages * static_cast<std::uint64_t>(elements) * c10::elementSize(setup.dtype);
  return bound;
}

Case pipeline_case(const std::string& task, const std::string& name, const Setup& setup) {
  Case result = make_case(task, name, setup);
  result.keep_own_part = [setup](const CasePlace& place, TensorMap& inputs) { keep_own_stages(setup, place, inputs); };
  const OncePerWorld<Reference> whole([setup](int size, std::uint64_t seed) {
    return compute_reference(make_arguments(setup, {0, size, seed}));
  });
  result.expected = [setup, whole](const CasePlace& place) {
    TensorMap results = take_part(*whole.at(place), make_arguments(setup, place), setup.num_chunks, place);
    if (setup.has_many_batches && results.count("outputs") != 0)
      results["outputs.first"] = whole.at(place)->outputs.front();
    return results;
  };
  result.bounds = [setup, task](const CasePlace& place) { return std::vector<CostBound>{traffic(setup, task, place)}; };
  result.work = [setup](const CasePlace& place) { return bound_work(setup, place); };
  if (setup.computes_long) result.time = [setup](int size, std::uint64_t) { return bound_time(setup, size); };
  return result;
}

/// The student's own loop. The provided schedules are not bounded in memory: memory_test.cpp shows what they hold.
Case all_forward_all_backward_case(const std::string& name, const Setup& setup) {
  Case result = pipeline_case("a5.all_forward_all_backward", name, setup);
  result.memory = [setup](const CasePlace& place) { return bound_memory(setup, place); };
  if (!setup.has_one_batch) result.known_mistakes = {leave_last_out(setup)};
  return result;
}

}  // namespace

std::vector<Case> baseline_cases() {
  return {baseline_case("Baseline", {}), baseline_case("Baseline64", with_other_sizes({at::kDouble}, 3))};
}

std::vector<Case> pipeline_cases() {
  return {all_forward_all_backward_case("AllForwardAllBackward", {}),
          all_forward_all_backward_case("AllForwardAllBackward64", with_other_sizes({at::kDouble}, 3))};
}

std::vector<Case> schedule_cases() {
  const std::string task = "a5.schedules";
  return {pipeline_case(task, "OneForwardOneBackward", {at::kFloat, "1f1b", 1}),
          pipeline_case(task, "Interleaved", with_other_sizes({at::kFloat, "interleaved", 2}, 3)),
          pipeline_case(task, "ZeroBubbleH1", {at::kFloat, "zb-h1", 1}),
          pipeline_case(task, "ZeroBubbleH1_64", with_other_sizes({at::kDouble, "zb-h1"}, 1))};
}

std::vector<Case> other_numbers_of_batches_cases() {
  Setup many, one;
  many.micro_batch_size = 1;
  many.has_many_batches = true;
  one.has_one_batch = true;
  return {baseline_case("BaselineMany", many), all_forward_all_backward_case("AllForwardAllBackwardMany", many),
          all_forward_all_backward_case("AllForwardAllBackwardOne", one)};
}

Case long_pipeline_case() {
  Case result = all_forward_all_backward_case("AllForwardAllBackwardLong", {at::kFloat, "", 1, true, 1});
  result.costly = true;
  return result;
}

}  // namespace lab::a5
