#include "optC_model_parallel/cases/sharded_layer.h"

#include <c10/core/GradMode.h>

#include <cmath>

#include "common/api/partition.h"
#include "common/tensor/exact_data.h"
#include "common/tensor/seeded.h"

namespace lab::optc {
namespace {

/// The same on every rank.
struct WholeLayer {
  at::Tensor x;
  Tensors tensors;
  at::Tensor grad_out;
};

/// Rises along the last dimension: the parts of any two ranks have different means.
at::Tensor feature_ramp(at::IntArrayRef shape) {
  return at::linspace(-3, 3, shape.back(), at::kDouble).expand(shape);
}

at::Tensor draw_tensor(const std::string& name, at::IntArrayRef shape, std::uint64_t seed) {
  const at::Tensor noise = seeded_randn(shape, seed, at::kDouble);
  if (name == "norm.running_var") return noise.square() + 0.5;
  if (shape.size() == 1) return noise + feature_ramp(shape);
  return noise / std::sqrt(static_cast<double>(noise[0].numel()));  // products of about the size of 1
}

/// In float64, with values that the dtype has; if exact, integers from -2 to 2.
WholeLayer draw_layer(const ShardedLayer& layer, const LayerData& data, std::uint64_t seed) {
  const auto draw = [&](at::IntArrayRef shape, std::uint64_t own_seed, const std::function<at::Tensor()>& random) {
    return data.exact ? exact_values(shape, at::kHalf, own_seed).to(at::kDouble)
                      : random().to(data.dtype).to(at::kDouble);
  };
  WholeLayer whole;
  whole.x = draw(layer.x_shape, seed, [&] {
    return seeded_randn(layer.x_shape, seed, at::kDouble) + feature_ramp(layer.x_shape) + layer.x_mean;
  });
  for (const ParameterSpec& spec : layer.tensors) {
    const std::uint64_t own_seed = seed + 1 + whole.tensors.size();
    const auto mean = layer.means.find(spec.name);
    whole.tensors.push_back(draw(spec.shape, own_seed, [&] {
      return draw_tensor(spec.name, spec.shape, own_seed) + (mean == layer.means.end() ? 0 : mean->second);
    }));
  }
  const c10::NoGradGuard no_grad;
  Tensors tensors;
  for (const at::Tensor& tensor : whole.tensors) tensors.push_back(tensor.clone());
  const std::vector<std::int64_t> out_shape = layer.serial(whole.x, tensors).sizes().vec();
  whole.grad_out = draw(out_shape, seed + 100, [&] { return seeded_randn(out_shape, seed + 100, at::kDouble); });
  return whole;
}

at::Tensor own_part(const at::Tensor& tensor, bool is_split, const CasePlace& place) {
  if (!is_split) return tensor;
  const Slice slice = even_slice(tensor.size(-1), place.size, place.rank);
  return tensor.narrow(-1, slice.begin, slice.size).contiguous();
}

CaseInputs layer_inputs(const ShardedLayer& layer, const LayerData& data, bool with_gradient, const CasePlace& place) {
  const WholeLayer whole = draw_layer(layer, data, place.seed);
  CaseInputs inputs;
  inputs.numbers = layer.numbers;
  inputs.tensors["input.x"] = own_part(whole.x, layer.x_is_split, place);
  if (with_gradient) inputs.tensors["input.grad_out"] = own_part(whole.grad_out, layer.out_is_split, place);
  for (std::size_t i = 0; i < layer.tensors.size(); ++i) {
    const ParameterSpec& spec = layer.tensors[i];
    inputs.tensors[(spec.learns ? "weight." : "input.") + spec.name] =
        take_shard(spec, whole.tensors[i], place.rank, place.size);
  }
  for (auto& [name, tensor] : inputs.tensors) tensor = tensor.to(data.dtype);
  return inputs;
}

TensorMap layer_results(const ShardedLayer& layer, const LayerData& data, bool with_gradient, const CasePlace& place) {
  const WholeLayer whole = draw_layer(layer, data, place.seed);
  const c10::AutoGradMode grad_mode(with_gradient);
  const at::Tensor x = whole.x.clone().requires_grad_(with_gradient);
  Tensors tensors;
  for (std::size_t i = 0; i < whole.tensors.size(); ++i)
    tensors.push_back(whole.tensors[i].clone().requires_grad_(with_gradient && layer.tensors[i].learns));
  const at::Tensor out = layer.serial(x, tensors);
  TensorMap results = {{"out", own_part(out.detach(), layer.out_is_split, place)},
                       {"x", own_part(whole.x, layer.x_is_split, place)}};
  if (with_gradient) {
    out.backward(whole.grad_out);
    results["x.grad"] = own_part(x.grad(), layer.x_is_split, place);
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const ParameterSpec& spec = layer.tensors[i];
    results[spec.name] = take_shard(spec, tensors[i], place.rank, place.size);
    if (with_gradient && spec.learns)
      results[spec.name + ".grad"] = take_shard(spec, tensors[i].grad(), place.rank, place.size);
  }
  for (auto& [name, tensor] : results) tensor = tensor.to(data.dtype);
  return results;
}

/// What every rank has in full, computed from the same bits or summed up over all ranks.
std::vector<std::string> results_of_all_ranks(const ShardedLayer& layer, bool with_gradient) {
  std::vector<std::string> names;
  if (!layer.out_is_split) names.emplace_back("out");
  if (with_gradient && !layer.x_is_split) names.emplace_back("x.grad");
  for (const ParameterSpec& spec : layer.tensors) {
    if (with_gradient && spec.split_dim < 0) names.push_back(spec.name + ".grad");
  }
  return names;
}

/// A rank's part of the products, with a gradient of each factor, and three fifths more, as for a forward pass that is
/// recomputed; and operations on each value, generously. Each of two ranks that computes everything does twice its part.
ShareBound layer_work(const ShardedLayer& layer, bool with_gradient, int size) {
  const std::int64_t products = layer.product_flops * (with_gradient ? 3 : 1);
  const std::int64_t values = layer.num_values / size + layer.num_whole_values;
  constexpr std::int64_t kPerValue = 6;
  return {products, (products + 3 * products / 5) / size + kPerValue * (with_gradient ? 2 : 1) * values};
}

/// Of the shards: a copy, the gradient, and one of both on the way; of a rank's values, and of those that every rank
/// has: several kinds, and the latter also from all ranks, gathered and stacked to be added up.
ShareBound layer_memory(const ShardedLayer& layer, bool with_gradient, at::ScalarType dtype, int size) {
  std::int64_t shards = 0, whole_tensors = 0;
  for (const ParameterSpec& spec : layer.tensors)
    (spec.split_dim < 0 ? whole_tensors : shards) += c10::multiply_integers(spec.shape);
  const std::int64_t times = with_gradient ? 2 : 1, bytes = static_cast<std::int64_t>(c10::elementSize(dtype));
  const std::int64_t x = c10::multiply_integers(layer.x_shape) / (layer.x_is_split ? size : 1);
  const std::int64_t whole = 4 * whole_tensors + (8 + 2 * size) * times * (layer.num_whole_values + x);
  // Who gathers what ranks could keep to themselves holds all of it.
  const std::int64_t hidden = layer.sends == ShardedLayer::Sends::kGenerously ? 4 * times * layer.num_hidden : 0;
  return {bytes * (4 * shards + 4 * times * layer.num_values + whole),
          bytes * (4 * shards / size + 4 * times * layer.num_values / size + whole + hidden)};
}

}  // namespace

Case layer_case(const std::string& task, const std::string& name, Passes passes, const ShardedLayerFor& layer_for,
                const LayerData& data) {
  const bool with_gradient = passes == Passes::kBoth;
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  // Sums in another order, of values and gradients of about the size of 1: about 50,000 rounding errors of float64,
  // over 1,000 of float32.
  result.tolerance.rtol = result.tolerance.atol = data.exact ? 0 : data.dtype == at::kDouble ? 1e-11 : 1e-4;
  result.same_on_all_ranks = results_of_all_ranks(layer_for(1), with_gradient);
  result.inputs = [=](const CasePlace& place) {
    return layer_inputs(layer_for(place.size), data, with_gradient, place);
  };
  result.expected = [=](const CasePlace& place) {
    return layer_results(layer_for(place.size), data, with_gradient, place);
  };
  if (layer_for(1).product_flops > 0) {
    result.work = [=](const CasePlace& place) { return layer_work(layer_for(place.size), with_gradient, place.size); };
  }
  if (layer_for(1).bounds_memory) {
    result.memory = [=](const CasePlace& place) {
      return layer_memory(layer_for(place.size), with_gradient, data.dtype, place.size);
    };
  }
  result.bounds = [=](const CasePlace& place) {
    const ShardedLayer layer = layer_for(place.size);
    const Traffic traffic = with_gradient ? layer.forward + layer.backward : layer.forward;
    if (layer.sends == ShardedLayer::Sends::kGenerously)
      return generously(task, traffic, layer.num_hidden, place.size, data.dtype);
    return tensor_bounds(task, traffic, place.size, data.dtype, layer.sends == ShardedLayer::Sends::kExactly);
  };
  return result;
}

}  // namespace lab::optc
