#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "optC_model_parallel/model/layers/layer_specs.h"
#include "optC_model_parallel/model/layers/pipeline_models.h"
#include "optC_model_parallel/model/layers/tensor_models.h"

namespace lab::optc {
namespace {

using MlpBlock = std::function<at::Tensor(const at::Tensor& x, const Tensors& tensors)>;

/// The tutorial's net with its layers fc1 and fc2 as one block; `between`: the parameters between them.
ModelSpec paired_tutorial(const std::string& name, const MlpBlock& block, std::vector<ParameterSpec> between) {
  const ModelSpec tutorial = tutorial_model();
  const LayerSpec& fc1 = tutorial.layers[2];
  const LayerSpec& fc2 = tutorial.layers[3];
  LayerSpec pair;
  pair.name = "fc1-fc2";
  pair.parameters =
      joined({split_by_rows(fc1.parameters), split_by_rows(std::move(between)), split_by_columns(fc2.parameters)});
  pair.out_shape = fc2.out_shape;
  pair.multiply_adds = fc1.multiply_adds + fc2.multiply_adds;
  pair.forward = [block](const at::Tensor& x, const Tensors& tensors, Mode) {
    return at::relu(block(x.flatten(1), tensors));
  };
  return {name, {tutorial.layers[0], tutorial.layers[1], std::move(pair), tutorial.layers[4]}};
}

}  // namespace

ModelSpec pair_model(const Blocks& blocks) {
  return paired_tutorial("pair", blocks.mlp, {});
}

ModelSpec pair_norm_model(const Blocks& blocks) {
  return paired_tutorial("pair-norm", blocks.norm_mlp, norm_parameters("norm", 120));
}

}  // namespace lab::optc
