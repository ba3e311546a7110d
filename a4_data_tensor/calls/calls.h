#pragma once

#include <functional>

#include "a4_data_tensor/step.h"
#include "common/api/collectives.h"
#include "common/rank/task_call.h"

// The calls of functions and layers that communicate.
namespace lab::a4 {

/// The call of f, the gather, or g. Inputs "input.x", "input.grad_out"; results "out", "x.grad", and "x" and "grad_out"
/// as they are afterwards. Or "input.first.x", "input.second.x" and so on: called twice, then backward from both outputs.
TaskCall function_call(const std::function<at::Tensor(const at::Tensor& x, Collectives&)>& function);

/// A layer, as a case uses it.
struct LayerUnderTest {
  std::function<at::Tensor(const at::Tensor& x)> forward;
  TensorMap weights;  ///< this rank's, by name; leaves; undefined ones are left out
};

/// Runs a layer forward and backward. `x_name`: of its input, "x" or "x_shard". Results "out", "<x_name>.grad" and
/// "<weight>.grad"; and "<x_name>" and "<weight>" as they are afterwards. Undefined results are for the case to refuse.
TensorMap layer_results(const CaseInputs& inputs, const std::string& x_name, const LayerUnderTest& layer);

}  // namespace lab::a4

namespace lab::a4 {

/// The options of one run of a handout case.
StepOptions step_options(const CaseInputs& inputs);

/// Task id -> student function. A task's cases ask for results by name, and each call returns what its inputs allow.
CallTable calls();

}  // namespace lab::a4
