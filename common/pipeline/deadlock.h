#pragma once

#include "common/pipeline/replay.h"

namespace lab::pipeline {

/// Errors    DeadlockError naming each rank of a cycle and what it waits for (of a long cycle, the first ones)
void check_no_deadlock(const Schedule& schedule, const Replay& replay);

}  // namespace lab::pipeline
