#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/comm/collectives.h"
#include "optC_model_parallel/model.h"

namespace lab::optc {

/// A layer's parallel version, called with the case's x and shards.
using ShardedForward =
    std::function<at::Tensor(const at::Tensor& x, const Tensors& shards, const CaseInputs& inputs, Collectives& comm)>;

/// The call of a task whose cases are those of a ShardedLayer with tensors of these names.
TaskCall sharded_layer_call(const std::vector<std::string>& names, const ShardedForward& forward);

/// The call of a task with cases of function_cases.cpp.
TaskCall function_call(const std::function<at::Tensor(const at::Tensor& x, Collectives& comm)>& function);

/// The student functions of tensor parallelism's tasks.
CallTable tensor_calls();

/// The student functions of the pipeline's tasks.
CallTable pipeline_calls();

/// The student functions of all tasks.
CallTable calls();

}  // namespace lab::optc
