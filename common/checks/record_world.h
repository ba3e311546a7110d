#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/record.h"
#include "common/launch/run_ranks.h"

namespace lab {

/// Performs cases on this rank and appends a record to the descriptor after each, in order; those that this rank is not
/// asked for are passed over. A TODO ends one case only. Whatever else is thrown leaves its record and is thrown again,
/// as is a message that a case has posted and not waited for.
/// Call      on every rank with the same cases
void perform_and_record(const std::vector<Case>& cases, const CallTable& calls, Communicator& comm, std::uint64_t seed,
                        int descriptor);

/// A new world in which rank r records the cases to descriptors[r]. As for run_ranks(): forks from this process.
WorldOutcome run_record_world(const std::vector<Case>& cases, const CallTable& calls, const WorldSpec& spec,
                              std::uint64_t seed, const std::vector<int>& descriptors);

}  // namespace lab
