#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "optC_model_parallel/calls/layer_calls.h"
#include "optC_model_parallel/cases/tensor_bounds.h"
#include "optC_model_parallel/model.h"

// Cases of any layer whose tensors are split over ranks: the layer in one process gives the expected output and
// gradients.
namespace lab::optc {

/// How a tensor is split over ranks.
struct Split {
  std::vector<std::int64_t> shape;
  int dim = -1;           ///< as ParameterSpec::split_dim
  std::int64_t unit = 1;  ///< as ParameterSpec::split_unit
};

/// A layer, and the traffic its parallel version may cause.
struct ShardedLayer {
  std::vector<std::string> names;  ///< of its tensors
  std::vector<Split> splits;
  std::vector<std::int64_t> x_shape;  ///< whole
  bool x_is_split = false;            ///< along the last dimension
  bool out_is_split = false;
  double x_mean = 0;
  std::function<at::Tensor(const at::Tensor& x, const Tensors& tensors)> serial;
  Traffic forward, backward;
  bool may_send_less = false;
  std::int64_t product_flops = 0;         ///< of a forward pass in one process; ranks share them evenly
  std::int64_t num_values = 0;            ///< of all outputs within the layer that ranks share
  std::int64_t num_whole_values = 0;      ///< of those that every rank has
  std::map<std::string, double> numbers;  ///< further inputs of the case
};

/// The layer for `size` ranks: with widths that they divide.
using ShardedLayerFor = std::function<ShardedLayer(int size)>;

/// Inputs "input.x", "weight.<tensor>" (running statistics: "input.<tensor>"), whole or this rank's part. Expected:
/// "out", and running statistics by their names. In float64, as are all of these cases.
Case forward_case(const std::string& task, const std::string& name, const ShardedLayerFor& layer);

/// The same with "input.grad_out", the gradient that arrives at `out`; expected also "x.grad" and "<tensor>.grad".
Case gradient_case(const std::string& task, const std::string& name, const ShardedLayerFor& layer);

}  // namespace lab::optc
