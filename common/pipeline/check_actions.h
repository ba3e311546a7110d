#pragma once

#include "common/pipeline/schedule.h"

namespace lab::pipeline {

/// What validate() checks, except for deadlock: each rank's list by itself is complete and in an order that can be
/// computed. As every message then occurs once on each end, this also shows that none lacks its other end.
/// Errors    ContractError naming rank, action and what is wrong
void check_actions(const Schedule& schedule);

}  // namespace lab::pipeline
