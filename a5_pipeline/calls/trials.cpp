#include "a5_pipeline/calls/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lab::a5 {
namespace {

std::string trial_key(std::size_t trial, const char* part) {
  return fmt::format("input.trial{}.{}", trial, part);
}

at::Tensor sent_tolerance(const Tolerance& tolerance) {
  return at::full({1}, tolerance.relative_norm, at::kDouble);
}

Tolerance read_tolerance(std::size_t trial, const CaseInputs& inputs) {
  Tolerance tolerance = tolerance_of(at::kFloat);
  tolerance.relative_norm = inputs.tensor(trial_key(trial, "tolerance")).item<double>();
  return tolerance;
}

at::Tensor stacked_or_empty(const std::vector<at::Tensor>& tensors) {
  return tensors.empty() ? at::empty({0}) : at::stack(tensors);
}

void add_named(const std::string& prefix, const TensorMap& named, CaseInputs& inputs) {
  for (const auto& [name, tensor] : named) inputs.tensors[prefix + name] = tensor.defined() ? tensor : at::empty({0});
}

/// The inputs with this prefix, by the rest of their names.
TensorMap read_named(const std::string& prefix, const CaseInputs& inputs) {
  TensorMap named;
  for (auto found = inputs.tensors.lower_bound(prefix);
       found != inputs.tensors.end() && found->first.compare(0, prefix.size(), prefix) == 0; ++found) {
    named[found->first.substr(prefix.size())] = found->second.numel() > 0 ? found->second : at::Tensor();
  }
  return named;
}

}  // namespace

CaseInputs inputs_of_trials(const std::vector<OutputsTrial>& trials) {
  CaseInputs inputs;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    inputs.tensors[trial_key(i, "outputs")] = stacked_or_empty(trials[i].outputs);
    inputs.tensors[trial_key(i, "baseline")] = stacked_or_empty(trials[i].baseline);
    inputs.tensors[trial_key(i, "stage")] = at::tensor({trials[i].pp_rank, trials[i].pp_size}, at::kLong);
    inputs.tensors[trial_key(i, "tolerance")] = sent_tolerance(trials[i].tolerance);
  }
  return inputs;
}

std::vector<OutputsTrial> make_outputs_trials(const CaseInputs& inputs) {
  std::vector<OutputsTrial> trials;
  for (std::size_t i = 0; inputs.tensors.count(trial_key(i, "stage")) != 0; ++i) {
    const at::Tensor& stage = inputs.tensor(trial_key(i, "stage"));
    trials.push_back({inputs.tensor(trial_key(i, "outputs")).unbind(), inputs.tensor(trial_key(i, "baseline")).unbind(),
                      stage[0].item<int>(), stage[1].item<int>(), read_tolerance(i, inputs)});
  }
  return trials;
}

bool baseline_lacks_weight(const GradientsTrial& trial) {
  return std::any_of(trial.gradients.begin(), trial.gradients.end(),
                     [&](const auto& named) { return trial.baseline.count(named.first) == 0; });
}

CaseInputs inputs_of_trials(const std::vector<GradientsTrial>& trials) {
  CaseInputs inputs;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    add_named(trial_key(i, "gradient."), trials[i].gradients, inputs);
    add_named(trial_key(i, "baseline."), trials[i].baseline, inputs);
    inputs.tensors[trial_key(i, "tolerance")] = sent_tolerance(trials[i].tolerance);
  }
  return inputs;
}

std::vector<GradientsTrial> make_gradients_trials(const CaseInputs& inputs) {
  std::vector<GradientsTrial> trials;
  for (std::size_t i = 0; inputs.tensors.count(trial_key(i, "tolerance")) != 0; ++i) {
    trials.push_back({read_named(trial_key(i, "gradient."), inputs), read_named(trial_key(i, "baseline."), inputs),
                      read_tolerance(i, inputs)});
  }
  return trials;
}

}  // namespace lab::a5
