#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/comm/trace/rank_trace.h"

namespace lab {

/// What one rank did in one case.
struct CaseTrace : comm::RankTrace {
  std::string task, name;
};

/// A rank's trace of a world in which it performed the cases one after the other: its part in each case that it began.
/// Each case restarts the rank's clock (measured_use()), so the n-th is the n-th period after the world's first.
std::vector<CaseTrace> traces_by_case(const std::vector<Case>& cases, const CasePlace& place,
                                      const std::vector<comm::TraceEvent>& trace);

/// Whether some rank must send or receive something, by the case's bounds.
bool must_communicate(const Case& test_case, int size, std::uint64_t seed);

}  // namespace lab
