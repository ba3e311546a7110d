#pragma once

#include "common/pipeline/schedule.h"

namespace lab::pipeline {

/// What validate() checks, but for deadlock: each rank's list alone is complete and in an order that can be computed.
/// That settles more than it seems: as every message occurs once on either end, every message also has its other end.
/// Errors    ContractError naming rank, action and what is wrong
void check_actions(const Schedule& schedule);

}  // namespace lab::pipeline
