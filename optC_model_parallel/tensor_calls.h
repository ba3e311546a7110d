#pragma once

#include "common/lab/case.h"

namespace lab::optc {

/// The student functions of tensor parallelism's tasks.
CallTable tensor_calls();

}  // namespace lab::optc
