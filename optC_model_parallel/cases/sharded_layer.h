#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "optC_model_parallel/cases/tensor_bounds.h"
#include "optC_model_parallel/model/model.h"

// Cases of any layer whose tensors are split over ranks: the layer in one process gives the expected output and
// gradients.
namespace lab::optc {

/// A layer, and the traffic its parallel version may cause.
struct ShardedLayer {
  std::vector<ParameterSpec> tensors;
  std::vector<std::int64_t> x_shape;  ///< whole
  std::function<at::Tensor(const at::Tensor& x, const Tensors& tensors)> serial;
  bool x_is_split = false;  ///< along the last dimension
  bool out_is_split = false;
  double x_mean = 0;
  std::map<std::string, double> means = {};  ///< of tensors that are not drawn about 0, by their names
  Traffic forward = {}, backward = {};
  enum class Sends { kExactly, kAtMost, kGenerously } sends = Sends::kExactly;  ///< this traffic: see tensor_bounds.h
  std::int64_t num_hidden = 0;                                                  ///< as generously() takes it
  std::int64_t product_flops = 0;              ///< of a forward pass in one process; ranks share them evenly
  std::int64_t num_values = 0;                 ///< of all outputs within the layer that ranks share
  std::int64_t num_whole_values = 0;           ///< of those that every rank has
  bool bounds_memory = true;                   ///< false: what its operators hold depends on the CPU
  std::map<std::string, double> numbers = {};  ///< further inputs of the case
};

/// The layer for `size` ranks: with widths that they divide.
using ShardedLayerFor = std::function<ShardedLayer(int size)>;

/// What the tensors of a case hold.
struct LayerData {
  at::ScalarType dtype = at::kDouble;
  bool exact = false;  ///< small integers, whose sums of products are exact in float32: results are equal to the bit
};

enum class Passes { kForward, kBoth };

/// Inputs "input.x", "weight.<tensor>" (running statistics: "input.<tensor>"), whole or this rank's part. Expected:
/// "out", and "x" and the tensors by their names as they are afterwards, of which only statistics may have changed.
/// What every rank has in full must be the same on all ranks, to the bit. With both passes also "input.grad_out", the
/// gradient that arrives at `out`; expected also "x.grad" and "<tensor>.grad".
Case layer_case(const std::string& task, const std::string& name, Passes passes, const ShardedLayerFor& layer_for,
                const LayerData& data = {});

}  // namespace lab::optc
