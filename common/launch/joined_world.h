#pragma once

#include "common/launch/run_ranks.h"
#include "common/launch/supervise/rank_environment.h"

namespace lab {

/// Runs body as the one rank that the environment says this process is. The outcome holds this rank alone or, on rank 0
/// with `gather_reports`, what all ranks report (without their tensors): they send it there at the end of the run.
WorldOutcome join_world(const RankEnvironment& environment, const WorldSpec& spec, const RankBody& body,
                        bool gather_reports);

}  // namespace lab
