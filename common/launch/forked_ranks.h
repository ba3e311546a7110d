#pragma once

#include "common/launch/run_ranks.h"

namespace lab {

/// run_ranks() for the world `processes`: forks the ranks from this process, so that LibTorch is loaded once, lets them
/// meet over a file in a private folder, watches them, and collects what they leave there.
WorldOutcome run_forked_ranks(const WorldSpec& spec, const RankBody& body);

/// Why the world failed, in the words of the rank whose fault it is, which is named where it alone says so.
RankFailure failure_of_world(const std::vector<RankOutcome>& ranks, int cause);

}  // namespace lab
