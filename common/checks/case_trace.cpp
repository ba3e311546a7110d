#include "common/checks/case_trace.h"

#include <algorithm>

namespace lab {
namespace {

constexpr std::uint32_t kFirstPeriod = 2;  // the world's own is 1

}  // namespace

std::vector<CaseTrace> traces_by_case(const std::vector<Case>& cases, const CasePlace& place,
                                      const std::vector<comm::TraceEvent>& trace) {
  std::vector<CaseTrace> traces;
  for (const Case& test_case : cases) {
    if (!is_asked(test_case, place.rank) || !skip_reason_of(test_case, place.size).empty()) continue;
    CaseTrace& one = traces.emplace_back();
    one.task = test_case.task;
    one.name = test_case.name;
  }
  for (const comm::TraceEvent& event : trace) {
    const std::size_t at = event.model_period - kFirstPeriod;
    if (event.model_period >= kFirstPeriod && at < traces.size()) traces[at].events.push_back(event);
  }
  return traces;
}

bool must_communicate(const Case& test_case, int size, std::uint64_t seed) {
  if (!test_case.bounds || test_case.only_rank_zero) return false;
  for (int rank = 0; rank < size; ++rank) {
    for (const CostBound& bound : test_case.bounds({rank, size, seed})) {
      if (std::max({bound.min_messages, bound.min_rounds, bound.min_bytes_received, bound.min_destinations}) > 0)
        return true;
    }
  }
  return false;
}

}  // namespace lab
