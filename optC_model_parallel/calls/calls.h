#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/api/collectives.h"
#include "common/rank/task_call.h"
#include "optC_model_parallel/model.h"

// The calls of functions and layers that are split over ranks.
namespace lab::optc {

// The tensors of each kind of layer, as blocks.h names and orders them.
inline const std::vector<std::string> kWeightAndBias = {"weight", "bias"};
inline const std::vector<std::string> kMlpTensors = {"fc_in.weight", "fc_in.bias", "fc_out.weight", "fc_out.bias"};
inline const std::vector<std::string> kNormMlpTensors = {"fc_in.weight", "fc_in.bias",    "norm.weight",
                                                         "norm.bias",    "fc_out.weight", "fc_out.bias"};
inline const std::vector<std::string> kAttentionTensors = {"q.weight", "k.weight", "v.weight", "q.bias",
                                                           "k.bias",   "v.bias",   "o.weight", "o.bias"};
inline const std::vector<std::string> kResidualTensors = {"conv_in.weight",    "norm.weight",      "norm.bias",
                                                          "norm.running_mean", "norm.running_var", "conv_out.weight",
                                                          "conv_out.bias"};

/// The call of a task whose function is f, g, or the sum within a region. Inputs "input.x", "input.grad_out"; results
/// "out", "x.grad", and "x" and "grad_out" as they are afterwards.
TaskCall function_call(const std::function<at::Tensor(const at::Tensor& x, Collectives& comm)>& function);

/// A layer's parallel version, called with the case's x and shards.
using ShardedForward =
    std::function<at::Tensor(const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm)>;

/// The call of a task whose layer has tensors of these names. Inputs "input.x", "weight.<tensor>" (running statistics:
/// "input.<tensor>"), and for gradients "input.grad_out"; results "out", "x" and all tensors by their names as they are
/// afterwards, and with gradients "x.grad" and "<tensor>.grad".
TaskCall sharded_layer_call(const std::vector<std::string>& names, const ShardedForward& forward);

/// A running statistic, which does not learn.
bool is_statistic(const std::string& tensor_name);

}  // namespace lab::optc

namespace lab::optc {

/// Task id -> student function.
CallTable calls();

}  // namespace lab::optc
