#pragma once

#include "common/comm/process_world.h"
#include "common/launch/run_ranks.h"

namespace lab {

/// Runs body as this rank of a world: makes its communicator, closes in good order, and turns whatever is thrown into
/// the outcome's failure, of which all other ranks are told. Never throws.
void run_one_rank(const std::shared_ptr<Transport>& transport, const std::shared_ptr<CollectiveBackend>& collectives,
                  const WorldSpec& spec, const RankBody& body, RankOutcome& outcome);

/// The same for a rank that is this process. Errors while meeting are in the outcome, too.
RankOutcome run_process_rank(const ProcessWorldOptions& options, const WorldSpec& spec, const RankBody& body);

/// Lets LibTorch and its BLAS use this many threads in this process. To be called by a rank that is a process, before
/// any work.
void use_threads(int num_threads);

}  // namespace lab
