#pragma once

#include "common/pipeline/schedule.h"

namespace lab::pipeline {

/// Whether one rank's list is complete and in an order that can be computed.
/// Requires  a list as long as check_actions() expects
/// Errors    ContractError naming rank, action and what is wrong
void check_list(const Schedule& schedule, int rank);

}  // namespace lab::pipeline
