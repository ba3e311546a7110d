#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/api/partition.h"
#include "common/api/tensor_map.h"

// A model is data: a list of layers, each with the names and shapes of its tensors and a function of them. The tensors
// are kept separately, so that a process can hold some layers, a shard of each layer, or several versions of a layer.
namespace lab::optc {

/// Whether running statistics are updated or used.
enum class Mode { kTraining, kEvaluation };

enum class Fill {
  kUniform,  ///< like nn::Linear and nn::Conv2d: within 1 / sqrt(fan_in)
  kHe,       ///< within sqrt(6 / fan_in): keeps the scale of values through many ReLUs
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
  std::int64_t split_unit = 1;  ///< the size of a shard is a multiple of this, such as the rows of a head
};

using Tensors = std::vector<at::Tensor>;

struct LayerSpec {
  std::string name;
  std::vector<ParameterSpec> parameters;
  std::vector<std::int64_t> out_shape;  ///< of one image's output
  double multiply_adds = 0;             ///< in one image's forward pass: matrix products and convolutions
  /// x [B, ...] -> [B, out_shape]; the tensors in the order of `parameters`.
  std::function<at::Tensor(const at::Tensor& x, const Tensors& tensors, Mode mode)> forward;
};

struct ModelSpec {
  std::string name;
  std::vector<LayerSpec> layers;

  double multiply_adds() const;         ///< of all layers
  std::int64_t num_parameters() const;  ///< elements of all tensors
};

/// The specs of all tensors, in order.
std::vector<ParameterSpec> parameter_specs(const ModelSpec& model);

/// One version of the tensors of some consecutive layers, layer by layer. Learnable ones are leaves that require
/// gradients.
struct Parameters {
  std::vector<Tensors> layers;
};

/// The model's layers in the slice.
ModelSpec take_part(const ModelSpec& model, const Slice& layers);

/// What `make` returns for each tensor, as new leaves.
Parameters make_parameters(const ModelSpec& model, const std::function<at::Tensor(const ParameterSpec&)>& make);

/// The initial tensors of a training. A tensor depends only on its name and the seed, not on the layers around it, and
/// is drawn in float64, so that both dtypes start from the same model.
Parameters first_parameters(const ModelSpec& model, std::uint64_t seed, const at::TensorOptions& options);

/// Copies that share no storage with the given ones, as new leaves.
Parameters copy_of(const Parameters& parameters);

/// Copies the map's values into the tensors, in place.
/// Errors    UsageError: a missing name, a different shape or dtype
void assign(const ModelSpec& model, Parameters& parameters, const TensorMap& values);

/// The tensors by name; the same storage, detached.
TensorMap named(const ModelSpec& model, const Parameters& parameters);

/// The learnable tensors, in order, and their names.
Tensors learning(const ModelSpec& model, const Parameters& parameters);
std::vector<std::string> learning_names(const ModelSpec& model);

/// Gives the gradients of one version's learnable tensors to another's.
void move_gradients(const ModelSpec& model, const Parameters& from, const Parameters& to);

/// Runs all layers, one after the other.
/// Call      local unless a layer communicates; differentiable
at::Tensor run_layers(const ModelSpec& model, const Parameters& parameters, const at::Tensor& x, Mode mode);

/// This rank's shard of one whole tensor: a copy; and of those of a model's tensors that the map has.
/// Errors    ContractError: a dimension that does not divide by the number of ranks, in whole units; tensor and
///           dimension are named
at::Tensor take_shard(const ParameterSpec& spec, const at::Tensor& whole, int rank, int num_ranks);
TensorMap take_shard(const ModelSpec& model, const TensorMap& whole, int rank, int num_ranks);

}  // namespace lab::optc
