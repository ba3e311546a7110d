#pragma once

#include <ATen/ATen.h>

#include <functional>

#include "common/comm/collectives.h"
#include "common/lab/case.h"

namespace lab::optc {

/// The call of a task with cases of function_cases.h.
TaskCall function_call(const std::function<at::Tensor(const at::Tensor& x, Collectives& comm)>& function);

}  // namespace lab::optc
