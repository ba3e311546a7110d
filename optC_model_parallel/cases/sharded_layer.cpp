#include "optC_model_parallel/cases/sharded_layer.h"

#include <c10/core/GradMode.h>

#include <cmath>

#include "common/tensor/partition.h"
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

at::Tensor drawn_tensor(const std::string& name, at::IntArrayRef shape, std::uint64_t seed) {
  const at::Tensor noise = seeded_randn(shape, seed, at::kDouble);
  if (name == "norm.running_var") return noise.square() + 0.5;
  if (shape.size() == 1) return noise + feature_ramp(shape);
  return noise / std::sqrt(static_cast<double>(noise[0].numel()));  // products of about the size of 1
}

at::Tensor serial_out(const ShardedLayer& layer, const WholeLayer& whole) {
  const c10::NoGradGuard no_grad;
  Tensors tensors;
  for (const at::Tensor& tensor : whole.tensors) tensors.push_back(tensor.clone());
  return layer.serial(whole.x, tensors);
}

WholeLayer whole_layer(const ShardedLayer& layer, std::uint64_t seed) {
  WholeLayer whole;
  whole.x = seeded_randn(layer.x_shape, seed, at::kDouble) + feature_ramp(layer.x_shape) + layer.x_mean;
  for (std::size_t i = 0; i < layer.names.size(); ++i)
    whole.tensors.push_back(drawn_tensor(layer.names[i], layer.splits[i].shape, seed + 1 + i));
  whole.grad_out = seeded_randn(serial_out(layer, whole).sizes(), seed + 100, at::kDouble);
  return whole;
}

at::Tensor own_part(const at::Tensor& tensor, bool is_split, const CasePlace& place) {
  if (!is_split) return tensor;
  const Slice slice = even_slice(tensor.size(-1), place.size, place.rank);
  return tensor.narrow(-1, slice.begin, slice.size).contiguous();
}

at::Tensor own_shard(const ShardedLayer& layer, std::size_t i, const at::Tensor& tensor, const CasePlace& place) {
  ParameterSpec spec;
  spec.name = layer.names[i];
  spec.shape = layer.splits[i].shape;
  spec.split_dim = layer.splits[i].dim;
  spec.split_unit = layer.splits[i].unit;
  return shard_of(spec, tensor, place.rank, place.size);
}

CaseInputs layer_inputs(const ShardedLayer& layer, bool with_gradient, const CasePlace& place) {
  const WholeLayer whole = whole_layer(layer, place.seed);
  CaseInputs inputs;
  inputs.numbers = layer.numbers;
  inputs.tensors["input.x"] = own_part(whole.x, layer.x_is_split, place);
  if (with_gradient) inputs.tensors["input.grad_out"] = own_part(whole.grad_out, layer.out_is_split, place);
  for (std::size_t i = 0; i < layer.names.size(); ++i) {
    const std::string prefix = is_statistic(layer.names[i]) ? "input." : "weight.";
    inputs.tensors[prefix + layer.names[i]] = own_shard(layer, i, whole.tensors[i], place);
  }
  return inputs;
}

TensorMap layer_results(const ShardedLayer& layer, bool with_gradient, const CasePlace& place) {
  const WholeLayer whole = whole_layer(layer, place.seed);
  const c10::AutoGradMode grad_mode(with_gradient);
  const at::Tensor x = whole.x.clone().requires_grad_(with_gradient);
  Tensors tensors;
  for (std::size_t i = 0; i < whole.tensors.size(); ++i)
    tensors.push_back(whole.tensors[i].clone().requires_grad_(with_gradient && !is_statistic(layer.names[i])));
  const at::Tensor out = layer.serial(x, tensors);
  TensorMap results = {{"out", own_part(out.detach(), layer.out_is_split, place)}};
  if (with_gradient) {
    out.backward(whole.grad_out);
    results["x.grad"] = own_part(x.grad(), layer.x_is_split, place);
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (is_statistic(layer.names[i])) {
      results[layer.names[i]] = own_shard(layer, i, tensors[i], place);
    } else if (with_gradient) {
      results[layer.names[i] + ".grad"] = own_shard(layer, i, tensors[i].grad(), place);
    }
  }
  return results;
}

/// A rank's part of the products, with a gradient of each factor; and operations on each value, generously.
ShareBound layer_work(const ShardedLayer& layer, bool with_gradient, int size) {
  const std::int64_t products = layer.product_flops * (with_gradient ? 3 : 1);
  const std::int64_t values = layer.num_values / size + layer.num_whole_values;
  constexpr std::int64_t kPerValue = 6;
  return {products, products / size + kPerValue * (with_gradient ? 2 : 1) * values};
}

Case layer_case(const std::string& task, const std::string& name, const ShardedLayerFor& layer_for,
                bool with_gradient) {
  Case result;
  result.task = task;
  result.name = result.prefix = name;
  result.inside_backward = with_gradient;
  // About 50,000 rounding errors of float64: sums in another order, of values and gradients of about the size of 1.
  result.tolerance.rtol = result.tolerance.atol = 1e-11;
  result.inputs = [=](const CasePlace& place) { return layer_inputs(layer_for(place.size), with_gradient, place); };
  result.expected = [=](const CasePlace& place) { return layer_results(layer_for(place.size), with_gradient, place); };
  if (layer_for(1).product_flops > 0) {
    result.work = [=](const CasePlace& place) { return layer_work(layer_for(place.size), with_gradient, place.size); };
  }
  result.bounds = [=](const CasePlace& place) {
    const ShardedLayer layer = layer_for(place.size);
    const Traffic traffic = with_gradient ? layer.forward + layer.backward : layer.forward;
    return layer.may_send_less ? at_most(task, traffic, place.size) : exactly(task, traffic, place.size);
  };
  return result;
}

}  // namespace

Case forward_case(const std::string& task, const std::string& name, const ShardedLayerFor& layer) {
  return layer_case(task, name, layer, false);
}

Case gradient_case(const std::string& task, const std::string& name, const ShardedLayerFor& layer) {
  return layer_case(task, name, layer, true);
}

}  // namespace lab::optc
