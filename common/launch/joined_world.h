#pragma once

#include "common/launch/run_ranks.h"
#include "common/launch/supervise/rank_environment.h"

namespace lab::launch {

/// Runs body as the rank that the environment assigns to this process. The outcome contains this rank only or, on rank
/// 0, the reports of all ranks (without tensors), sent there at the end of the run.
WorldOutcome join_world(const RankEnvironment& environment, const WorldSpec& spec, const RankBody& body);

}  // namespace lab::launch
