#include "a5_pipeline/calls/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <utility>

#include "a5_pipeline/baseline.h"
#include "a5_pipeline/calls/trials.h"
#include "a5_pipeline/comparisons.h"
#include "a5_pipeline/pipeline_communicate.h"
#include "a5_pipeline/pipeline_stage.h"
#include "common/api/errors.h"
#include "common/api/shapes.h"

namespace lab::a5 {

namespace {

/// Whether the number is in the text, not as a part of another one.
bool names(const std::string& text, std::int64_t number) {
  return std::regex_search(text, std::regex(fmt::format("(^|[^0-9]){}($|[^0-9])", number)));
}

/// 1 if check_arguments returns. Only a UsageError is a rejection: 0 if it names both numbers that do not go together,
/// otherwise -1. A size below 1 is wrong by itself.
std::int64_t is_accepted(const at::Tensor& row) {
  PipelineArguments arguments;
  arguments.number_of_layers = row[0].item<std::int64_t>();
  arguments.global_batch_size = row[1].item<std::int64_t>();
  arguments.micro_batch_size = row[2].item<std::int64_t>();
  try {
    check_arguments(arguments, static_cast<int>(row[3].item<std::int64_t>()));
  } catch (const UsageError& error) {
    if (row.min().item<std::int64_t>() < 1) return 0;
    const bool too_few_layers = arguments.number_of_layers < row[3].item<std::int64_t>();
    const std::pair<int, int> pair = too_few_layers ? std::pair(0, 3) : std::pair(1, 2);
    const std::string message = error.what();
    return names(message, row[pair.first].item<std::int64_t>()) && names(message, row[pair.second].item<std::int64_t>())
               ? 0
               : -1;
  }
  return 1;
}

TensorMap arguments_call(Communicator&, const CaseInputs& inputs) {
  std::vector<std::int64_t> accepted;
  for (const at::Tensor& row : inputs.tensor("input.arguments").unbind()) accepted.push_back(is_accepted(row));
  return {{"accepted", at::tensor(accepted, at::kLong)}};
}

TensorMap distribute_call(Communicator&, const CaseInputs& inputs) {
  const std::int64_t most_layers = inputs.integer("most_layers"), most_stages = inputs.integer("most_stages");
  const at::Tensor owner = at::full({most_stages, most_layers, most_layers}, -1, at::kLong);
  auto owners = owner.accessor<std::int64_t, 3>();
  std::int64_t misplaced = 0;  // layers that do not exist, that an earlier stage has, or out of order
  for (std::int64_t stages = 1; stages <= most_stages; ++stages) {
    for (std::int64_t layers = 1; layers <= most_layers; ++layers) {
      std::int64_t before = -1;
      for (int stage = 0; stage < stages; ++stage) {
        for (const std::int64_t layer : distribute_layers(layers, stage, static_cast<int>(stages))) {
          misplaced += layer <= before || layer >= layers;
          if (layer >= 0 && layer < layers) owners[stages - 1][layers - 1][layer] = stage;
          before = layer;
        }
      }
    }
  }
  return {{"owner", owner}, {"misplaced", at::full({1}, misplaced, at::kLong)}};
}

TensorMap dataloader_call(Communicator&, const CaseInputs& inputs) {
  const std::int64_t most_stages = inputs.integer("most_stages");
  const at::Tensor needs = at::zeros({most_stages, most_stages}, at::kLong);
  auto flags = needs.accessor<std::int64_t, 2>();
  for (int stages = 1; stages <= most_stages; ++stages) {
    for (int stage = 0; stage < stages; ++stage) flags[stages - 1][stage] = requires_dataloader(stage, stages) ? 1 : 0;
  }
  return {{"needs", needs}};
}

/// Undefined if one of them is, or if there is none.
/// Errors    ResultError: they are not of one shape and dtype, or one is not detached
at::Tensor stacked(const std::vector<at::Tensor>& outputs) {
  const auto is_undefined = [](const at::Tensor& output) { return !output.defined(); };
  if (outputs.empty() || std::any_of(outputs.begin(), outputs.end(), is_undefined)) return {};
  const at::Tensor& first = outputs.front();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].requires_grad())
      throw ResultError(
          fmt::format("output {} keeps its graph, expected it detached: what led to it stays in memory", i));
    if (outputs[i].sizes() != first.sizes() || outputs[i].scalar_type() != first.scalar_type())
      throw ResultError(fmt::format("output 0 is {}, output {} is {}: expected one [B, S, H] per micro-batch",
                                    describe(first), i, describe(outputs[i])));
  }
  return at::stack(outputs).detach();
}

/// Where the case asks for it, also the first output as it was returned, no copy: another call must not change it.
void add_first_output(const CaseInputs& inputs, const std::vector<at::Tensor>& outputs, TensorMap& results) {
  if (inputs.numbers.count("returns_first") == 0 || results.count("outputs") == 0) return;
  results["outputs.first"] = outputs.empty() ? at::Tensor() : outputs.front();
}

TensorMap baseline_call(Communicator&, const CaseInputs& inputs) {
  const PipelineArguments arguments = make_arguments(inputs);
  const Model model(arguments, all_layers(arguments));
  DataLoader data(arguments);
  const std::vector<at::Tensor> outputs = baseline_forward_backward(model, data, arguments);
  TensorMap results = {{"outputs", stacked(outputs)}};
  add_first_output(inputs, outputs, results);
  for (const auto& [name, gradient] : model.gradients()) results[name + ".grad"] = gradient;
  return results;
}

/// All four messages of a stage. Results: "input" and "output_grad", zeros where nothing was received; "output" and
/// "input_grad", which were sent, as they are afterwards; "returned": of the two receives, whether they returned a
/// tensor and whether it requires a gradient; of the two sends, whether they returned one.
/// Errors    ResultError: both receives returned the same memory
TensorMap communicate_call(Communicator& comm, const CaseInputs& inputs) {
  const at::Tensor output = inputs.tensor("input.output").clone();
  const at::Tensor input_grad = inputs.tensor("input.input_grad").clone();
  PipelineArguments arguments;
  arguments.micro_batch_size = output.size(0);
  arguments.sequence_length = output.size(1);
  arguments.hidden_size = output.size(2);
  arguments.dtype = output.scalar_type();
  arguments.device = inputs.device;
  PointToPoint& p2p = comm.point_to_point();
  const at::Tensor input = pipeline_communicate(PipelineOperation::kRecvForward, p2p, arguments, {});
  const at::Tensor nothing = pipeline_communicate(PipelineOperation::kSendForward, p2p, arguments, output);
  const at::Tensor output_grad = pipeline_communicate(PipelineOperation::kRecvBackward, p2p, arguments, {});
  const at::Tensor nothing_either = pipeline_communicate(PipelineOperation::kSendBackward, p2p, arguments, input_grad);
  if (input.defined() && output_grad.defined() && input.storage().data() == output_grad.storage().data())
    throw ResultError("two receives returned the same memory, expected a new tensor each time");
  const auto received = [&](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.detach() : at::zeros(output.sizes(), output.options());
  };
  const auto requires_grad = [](const at::Tensor& tensor) { return tensor.defined() && tensor.requires_grad(); };
  const std::vector<std::int64_t> returned = {input.defined(),       requires_grad(input),
                                              output_grad.defined(), requires_grad(output_grad),
                                              nothing.defined(),     nothing_either.defined()};
  return {{"input", received(input)},
          {"output_grad", received(output_grad)},
          {"output", output},
          {"input_grad", input_grad},
          {"returned", at::tensor(returned, at::kLong)}};
}

TensorMap pipeline_call(Communicator& comm, const CaseInputs& inputs) {
  return collect_results(run_handout_pipeline(make_arguments(inputs), comm), inputs, comm);
}

TensorMap schedules_call(Communicator& comm, const CaseInputs& inputs) {
  const pipeline::Schedule schedule = pipeline::make_schedule(make_schedule_options(inputs, comm.size()));
  return collect_results(run_scheduled_pipeline(make_arguments(inputs), schedule, comm), inputs, comm);
}

/// Undefined for an undefined one.
at::Tensor copy_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.clone() : tensor;
}
std::vector<at::Tensor> copy_each(std::vector<at::Tensor> tensors) {
  for (at::Tensor& tensor : tensors) tensor = copy_of(tensor);
  return tensors;
}
TensorMap copy_each(TensorMap tensors) {
  for (auto& [name, tensor] : tensors) tensor = copy_of(tensor);
  return tensors;
}

/// Errors    ResultError: one of them has changed
void require_unchanged(const at::Tensor& now, const at::Tensor& before, const std::string& name) {
  constexpr bool kNaNIsNaN = true;
  if (before.defined() && !at::allclose(now, before, 0, 0, kNaNIsNaN))
    throw ResultError(fmt::format("the comparison changes {}, expected it as it was before", name));
}
void require_unchanged(const std::vector<at::Tensor>& now, const std::vector<at::Tensor>& before,
                       const std::string& name) {
  for (std::size_t i = 0; i < before.size(); ++i) require_unchanged(now[i], before[i], fmt::format("{} {}", name, i));
}
void require_unchanged(const TensorMap& now, const TensorMap& before, const std::string& name) {
  for (const auto& [weight, tensor] : before)
    require_unchanged(now.at(weight), tensor, fmt::format("{} of {}", name, weight));
}

TensorMap outputs_call(Communicator&, const CaseInputs& inputs) {
  std::vector<std::int64_t> verdicts;
  for (const OutputsTrial& trial : make_outputs_trials(inputs)) {
    const std::vector<at::Tensor> outputs = copy_each(trial.outputs), baseline = copy_each(trial.baseline);
    const std::optional<bool> match = outputs_match(outputs, baseline, trial.tolerance, trial.pp_rank, trial.pp_size);
    require_unchanged(outputs, trial.outputs, "output");
    require_unchanged(baseline, trial.baseline, "baseline output");
    verdicts.push_back(!match ? -1 : *match ? 1 : 0);
  }
  return {{"verdicts", at::tensor(verdicts, at::kLong)}};
}

/// Whether it refuses a stage with a weight that the baseline lacks, as its contract says.
bool refuses(const GradientsTrial& trial) {
  try {
    gradients_match(trial.gradients, trial.baseline, trial.tolerance);
    return false;
  } catch (const ContractError&) {
    return true;
  }
}

TensorMap gradients_call(Communicator&, const CaseInputs& inputs) {
  std::vector<std::int64_t> verdicts;
  for (const GradientsTrial& trial : make_gradients_trials(inputs)) {
    if (baseline_lacks_weight(trial)) {
      verdicts.insert(verdicts.end(), trial.gradients.size(), refuses(trial) ? -2 : -1);
      continue;
    }
    const TensorMap gradients = copy_each(trial.gradients), baseline = copy_each(trial.baseline);
    const std::map<std::string, bool> matches = gradients_match(gradients, baseline, trial.tolerance);
    require_unchanged(gradients, trial.gradients, "the gradient");
    require_unchanged(baseline, trial.baseline, "the baseline's gradient");
    const bool complete = matches.size() == trial.gradients.size();
    for (const auto& [name, gradient] : trial.gradients) {
      const auto found = matches.find(name);
      verdicts.push_back(!complete || found == matches.end() ? -1 : found->second ? 1 : 0);
    }
  }
  return {{"verdicts", at::tensor(verdicts, at::kLong)}};
}

}  // namespace

CallTable calls() {
  return {{"a5.check_arguments", arguments_call},
          {"a5.baseline", baseline_call},
          {"a5.distribute_layers", distribute_call},
          {"a5.requires_dataloader", dataloader_call},
          {"a5.pipeline_communicate", communicate_call},
          {"a5.all_forward_all_backward", pipeline_call},
          {"a5.compare_outputs", outputs_call},
          {"a5.compare_gradients", gradients_call},
          {"a5.schedules", schedules_call}};
}

PipelineArguments make_arguments(const CaseInputs& inputs) {
  PipelineArguments arguments;
  arguments.global_batch_size = inputs.integer("global_batch_size");
  arguments.micro_batch_size = inputs.integer("micro_batch_size");
  arguments.sequence_length = inputs.integer("sequence_length");
  arguments.hidden_size = inputs.integer("hidden_size");
  arguments.intermediate_size = inputs.integer("intermediate_size");
  arguments.number_of_layers = inputs.integer("number_of_layers");
  arguments.dtype = inputs.integer("is_float64") != 0 ? at::kDouble : at::kFloat;
  arguments.activation = inputs.integer("is_relu") != 0 ? Activation::kRelu : Activation::kTanh;
  arguments.seed = inputs.seed;
  arguments.device = inputs.device;
  return arguments;
}

pipeline::ScheduleOptions make_schedule_options(const CaseInputs& inputs, int num_ranks) {
  pipeline::ScheduleOptions options;
  options.kind = pipeline::schedule_kinds().at(static_cast<std::size_t>(inputs.integer("schedule_kind")));
  options.num_ranks = num_ranks;
  options.num_micro_batches = static_cast<int>(make_arguments(inputs).number_of_micro_batches());
  options.num_chunks = static_cast<int>(inputs.integer("num_chunks"));
  return options;
}

TensorMap collect_results(const PipelineResult& pipelined, const CaseInputs& inputs, const Communicator& comm) {
  TensorMap results;
  results["number_of_outputs"] = at::full({1}, static_cast<std::int64_t>(pipelined.outputs.size()), at::kLong);
  if (comm.rank() == comm.size() - 1) results["outputs"] = stacked(pipelined.outputs);
  add_first_output(inputs, pipelined.outputs, results);
  for (const auto& [name, gradient] : pipelined.gradients) results[name + ".grad"] = gradient;
  return results;
}

}  // namespace lab::a5
