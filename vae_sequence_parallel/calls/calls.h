#pragma once

#include "common/rank/task_call.h"

namespace lab::vae {

/// Task id -> student function.
CallTable calls();

}  // namespace lab::vae
