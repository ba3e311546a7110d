#pragma once

#include "common/rank/task_call.h"

namespace lab::optc {

/// Task id -> student function.
CallTable calls();

}  // namespace lab::optc
