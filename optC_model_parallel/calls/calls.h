#pragma once

#include <string>
#include <vector>

#include "common/rank/task_call.h"

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

/// Task id -> student function.
CallTable calls();

/// One integer as a result.
inline at::Tensor make_count(std::int64_t value) {
  return at::full({1}, value, at::kLong);
}

/// The same for the pipeline's functions that need no other rank.
CallTable part_calls();

}  // namespace lab::optc
