#pragma once

#include "common/rank/task_call.h"

namespace lab::b1 {

CallTable calls();

}  // namespace lab::b1
