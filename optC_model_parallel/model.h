#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/tensor/partition.h"
#include "common/tensor/tensor_map.h"

// A model is data: a list of layers, each with the names and shapes of its tensors and a function of them. The tensors
// are kept apart, so that one process may hold some layers, a shard of each layer, or several versions of the same.
namespace lab::optc {

/// What running statistics are to do.
enum class Mode { kTraining, kEvaluation };

enum class Fill {
  kUniform,  ///< as nn::Linear and nn::Conv2d: within 1 / sqrt(fan_in)
  kHe,       ///< within sqrt(6 / fan_in): keeps the size of values through many ReLUs
  kZeros,
  kOnes,
};

struct ParameterSpec {
  std::string name;  ///< "conv1.weight"
  std::vector<std::int64_t> shape;
  Fill fill = Fill::kUniform;
  std::int64_t fan_in = 1;
  int split_dim = -1;  ///< the dimension that tensor parallelism splits evenly over ranks; -1: whole on every rank
  bool learns = true;  ///< false: a running statistic
  std::int64_t split_unit = 1;  ///< a shard has a multiple of so many, such as the rows of a head
};

using Tensors = std::vector<at::Tensor>;

struct LayerSpec {
  std::string name;
  std::vector<ParameterSpec> parameters;
  std::vector<std::int64_t> out_shape;  ///< of what it makes of one image
  double multiply_adds = 0;             ///< of a forward pass of one image: of its matrix products and convolutions
  /// x [B, ...] -> [B, out_shape]; the tensors in the order of `parameters`.
  std::function<at::Tensor(const at::Tensor& x, const Tensors& tensors, Mode mode)> forward;
};

struct ModelSpec {
  std::string name;
  std::vector<LayerSpec> layers;
};

/// One version of the tensors of some consecutive layers, layer by layer. Those that learn are leaves that require a
/// gradient.
struct Parameters {
  std::vector<Tensors> layers;
};

/// The model's layers of the slice.
ModelSpec part_of(const ModelSpec& model, const Slice& layers);

/// The tensors that a training begins with. A tensor depends on its name and the seed alone, not on the layers beside
/// it, and is drawn in float64: two dtypes begin with the same model.
Parameters first_parameters(const ModelSpec& model, std::uint64_t seed, at::ScalarType dtype);

/// Copies that share nothing with the given ones, as new leaves.
Parameters copy_of(const Parameters& parameters);

/// Makes the tensors' values those of the map, in place. Errors    UsageError: a name that is missing, another shape or
/// dtype
void assign(const ModelSpec& model, Parameters& parameters, const TensorMap& values);

/// By name; the same storage, detached.
TensorMap named(const ModelSpec& model, const Parameters& parameters);

/// Those that learn, in order.
Tensors learning(const ModelSpec& model, const Parameters& parameters);

/// Their names, in the same order.
std::vector<std::string> learning_names(const ModelSpec& model);

/// All layers, one after the other. Call      local unless a layer communicates; differentiable
at::Tensor run_layers(const ModelSpec& model, const Parameters& parameters, const at::Tensor& x, Mode mode);

/// This rank's shard of a model's tensors, and of a whole tensor: a copy. Of tensors by name: of those that are there.
/// Errors    ContractError: a dimension that does not divide by the number of ranks, in whole units; tensor and
///           dimension are named
Parameters shard_of(const ModelSpec& model, const Parameters& whole, int rank, int num_ranks);
at::Tensor shard_of(const ParameterSpec& spec, const at::Tensor& whole, int rank, int num_ranks);
TensorMap shard_of(const ModelSpec& model, const TensorMap& whole, int rank, int num_ranks);

}  // namespace lab::optc
