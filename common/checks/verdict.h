#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/costs.h"
#include "common/checks/case.h"
#include "common/checks/case_verdict.h"
#include "common/rank/record.h"

namespace lab {

/// The rank that takes or waits longest.
struct TimeExcess {
  std::size_t rank = 0;
  std::string reason;
};

/// Why ranks that took these model times exceed the bound; empty: they do not.
/// Example   "takes 16.4 ms of model time, expected at most 7.11 (it can be done in 5.69): one stage at work at a time:
///           3.0 of 4 stages idle"
///           "waits 0.0831 ms of model time for messages, expected at most 0.03: post them earlier, so that they travel
///           while the rank works"
std::optional<TimeExcess> beyond_time(const TimeBound& bound, const std::vector<ModelTime>& by_rank);

/// Judges one call of a case from the records of its ranks (index = rank), in a process that needs no student code.
/// Errors    what the case's own functions throw
CaseVerdict judge_case(const Case& test_case, int size, std::uint64_t seed,
                       const std::vector<std::optional<CaseRecord>>& by_rank);

/// The records of one call, by rank.
using RecordsOfCall = std::vector<std::optional<CaseRecord>>;

/// Judges each of a case's calls, in order, by the data of its own: the verdict is the first one's if all are right, else
/// that of the first that is not, such as one that costs more than the first, or that leaves more behind.
/// Errors    what the case's own functions throw
CaseVerdict judge_calls(const Case& test_case, int size, std::uint64_t seed, const std::vector<RecordsOfCall>& calls);

}  // namespace lab
