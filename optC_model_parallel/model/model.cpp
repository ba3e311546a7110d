#include "optC_model_parallel/model/model.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "optC_model_parallel/model/draws.h"

namespace lab::optc {
namespace {

/// Calls the function with every parameter and its tensor, in order.
template <class Tell>
void for_each_tensor(const ModelSpec& model, const Parameters& parameters, const Tell& tell) {
  if (parameters.layers.size() != model.layers.size())
    throw ContractError(fmt::format("model '{}': expected the tensors of {} layers, got those of {}", model.name,
                                    model.layers.size(), parameters.layers.size()));
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    for (std::size_t j = 0; j < model.layers[i].parameters.size(); ++j)
      tell(model.layers[i].parameters[j], parameters.layers[i].at(j));
  }
}

}  // namespace

double ModelSpec::multiply_adds() const {
  double sum = 0;
  for (const LayerSpec& layer : layers) sum += layer.multiply_adds;
  return sum;
}

std::int64_t ModelSpec::num_parameters() const {
  std::int64_t sum = 0;
  for (const ParameterSpec& spec : parameter_specs(*this)) sum += c10::multiply_integers(spec.shape);
  return sum;
}

std::vector<ParameterSpec> parameter_specs(const ModelSpec& model) {
  std::vector<ParameterSpec> all;
  for (const LayerSpec& layer : model.layers) all.insert(all.end(), layer.parameters.begin(), layer.parameters.end());
  return all;
}

ModelSpec take_part(const ModelSpec& model, const Slice& layers) {
  const auto begin = model.layers.begin();
  return {model.name, {begin + layers.begin, begin + layers.end()}};
}

Parameters make_parameters(const ModelSpec& model, const std::function<at::Tensor(const ParameterSpec&)>& make) {
  Parameters made;
  for (const LayerSpec& layer : model.layers) {
    Tensors& tensors = made.layers.emplace_back();
    for (const ParameterSpec& spec : layer.parameters)
      tensors.push_back(make(spec).detach().requires_grad_(spec.learns));
  }
  return made;
}

Parameters first_parameters(const ModelSpec& model, std::uint64_t seed, const at::TensorOptions& options) {
  return make_parameters(model, [&](const ParameterSpec& spec) { return draw_parameter(spec, seed).to(options); });
}

Parameters copy_of(const Parameters& parameters) {
  Parameters copy = parameters;
  for (Tensors& tensors : copy.layers) {
    for (at::Tensor& tensor : tensors) tensor = tensor.detach().clone().requires_grad_(tensor.requires_grad());
  }
  return copy;
}

void assign(const ModelSpec& model, Parameters& parameters, const TensorMap& values) {
  const c10::NoGradGuard no_gradient;
  for_each_tensor(model, parameters, [&](const ParameterSpec& spec, at::Tensor tensor) {
    const auto found = values.find(spec.name);
    const at::Tensor value = found == values.end() ? at::Tensor() : found->second;
    if (!value.defined() || value.sizes() != tensor.sizes() || value.scalar_type() != tensor.scalar_type())
      throw UsageError(fmt::format("model '{}': expected '{}' to be {}, got {}", model.name, spec.name,
                                   describe(tensor), value.defined() ? describe(value) : "nothing of that name"));
    tensor.copy_(value);
  });
}

TensorMap named(const ModelSpec& model, const Parameters& parameters) {
  TensorMap all;
  for_each_tensor(model, parameters, [&](const ParameterSpec& spec, const at::Tensor& tensor) {
    all[spec.name] = tensor.detach();  //
  });
  return all;
}

Tensors learning(const ModelSpec& model, const Parameters& parameters) {
  Tensors all;
  for_each_tensor(model, parameters, [&](const ParameterSpec& spec, const at::Tensor& tensor) {
    if (spec.learns) all.push_back(tensor);
  });
  return all;
}

std::vector<std::string> learning_names(const ModelSpec& model) {
  std::vector<std::string> names;
  for (const ParameterSpec& spec : parameter_specs(model)) {
    if (spec.learns) names.push_back(spec.name);
  }
  return names;
}

void move_gradients(const ModelSpec& model, const Parameters& from, const Parameters& to) {
  const Tensors givers = learning(model, from), takers = learning(model, to);
  for (std::size_t i = 0; i < takers.size(); ++i)
    takers[i].mutable_grad() = std::exchange(givers[i].mutable_grad(), at::Tensor());
}

at::Tensor run_layers(const ModelSpec& model, const Parameters& parameters, const at::Tensor& x, Mode mode) {
  at::Tensor out = x;
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    out = model.layers[i].forward(out, parameters.layers.at(i), mode);
  return out;
}

at::Tensor take_shard(const ParameterSpec& spec, const at::Tensor& whole, int rank, int num_ranks) {
  if (spec.split_dim < 0) return whole.detach().clone();
  const std::int64_t units = whole.size(spec.split_dim) / spec.split_unit;
  if (units % num_ranks != 0)
    throw ContractError(fmt::format(
        "'{}' {}: dimension {} cannot be split evenly over {} ranks{}", spec.name, shape_text(spec.shape),
        spec.split_dim, num_ranks, spec.split_unit == 1 ? "" : fmt::format(" in whole pieces of {}", spec.split_unit)));
  const Slice mine = even_slice(units, num_ranks, rank, spec.name);
  return whole.detach()
      .narrow(spec.split_dim, mine.begin * spec.split_unit, mine.size * spec.split_unit)
      .clone(at::MemoryFormat::Contiguous);
}

TensorMap take_shard(const ModelSpec& model, const TensorMap& whole, int rank, int num_ranks) {
  TensorMap shards;
  for (const ParameterSpec& spec : parameter_specs(model)) {
    const auto found = whole.find(spec.name);
    if (found != whole.end()) shards[spec.name] = take_shard(spec, found->second, rank, num_ranks);
  }
  return shards;
}

}  // namespace lab::optc
