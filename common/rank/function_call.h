#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "common/rank/task_call.h"

namespace lab {

/// The call of a differentiable function of one tensor that communicates. Inputs "input.x", "input.grad_out"; results
/// "out", "x.grad", and "x" and "grad_out" as they are afterwards. Or "input.first.x", "input.second.x" and so on: called
/// for each, then backward from all. With the number "strided" none of them is contiguous.
TaskCall function_call(const std::function<at::Tensor(const at::Tensor& x, Collectives&)>& function);

}  // namespace lab
