#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/comm/collectives.h"
#include "common/lab/case.h"
#include "optC_model_parallel/model.h"

namespace lab::optc {

/// A layer's parallel version: x and shards as the case has them.
using ShardedForward =
    std::function<at::Tensor(const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm)>;

/// The call of a task with cases of a ShardedLayer, whose tensors have these names.
TaskCall sharded_layer_call(const std::vector<std::string>& names, const ShardedForward& forward);

}  // namespace lab::optc
