#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/record.h"
#include "common/launch/run_ranks.h"

namespace lab {

/// Performs cases on this rank and appends a record to the descriptor after each, in order; skips those that this rank
/// is not asked for. A TODO ends one case only. Anything else that is thrown is recorded and rethrown; so is the error
/// of a case that posted a message without waiting for it.
/// Call      on every rank with the same cases
void perform_and_record(const std::vector<Case>& cases, const CallTable& calls, Communicator& comm, std::uint64_t seed,
                        int descriptor);

/// A new world in which rank r records the cases to descriptors[r]. As for run_ranks(): forks from this process.
WorldOutcome run_record_world(const std::vector<Case>& cases, const CallTable& calls, const WorldSpec& spec,
                              std::uint64_t seed, const std::vector<int>& descriptors);

}  // namespace lab
