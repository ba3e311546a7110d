#include "common/comm/trace/rank_trace.h"

#include <algorithm>
#include <utility>

namespace lab::comm {
namespace {

using Interval = std::pair<std::int64_t, std::int64_t>;

/// When the event kept its rank busy. A message does so at its post and in its wait; between the two the rank goes on.
std::vector<Interval> busy_in(const TraceEvent& event, const ModelRates& rates) {
  if (event.kind != TraceKind::kMessage) return {{event.model_start, event.model_end}};
  const bool sends = event.direction == Direction::kSend;
  std::vector<Interval> busy = {{event.model_start, event.model_start + (sends ? rates.overhead_ps : 0)}};
  if (never_completed(event)) return busy;
  busy.emplace_back(event.model_end - event.model_waited - (sends ? 0 : rates.overhead_ps), event.model_end);
  return busy;
}

}  // namespace

std::vector<TraceEvent> computations(const RankTrace& trace, int rank, const ModelRates& rates) {
  std::vector<Interval> busy;
  std::int64_t last = 0;
  for (const TraceEvent& event : trace.events) {
    for (const Interval& one : busy_in(event, rates)) {
      if (one.first < one.second) busy.push_back(one);
    }
    last = std::max(last, event.model_end);
  }
  const std::int64_t end = trace.is_cut ? last : std::max(last, trace.length_ps);
  busy.emplace_back(end, end);
  std::sort(busy.begin(), busy.end());
  std::vector<TraceEvent> found;
  std::int64_t free_from = 0;  // what is before is explained
  for (const auto& [begin, stop] : busy) {
    if (begin > free_from) {
      TraceEvent& event = found.emplace_back();
      event.kind = TraceKind::kComputation;
      event.rank = rank;
      event.peer = -1;
      event.operation = "computes";
      event.model_start = free_from;
      event.model_end = begin;
    }
    free_from = std::max(free_from, stop);
  }
  return found;
}

}  // namespace lab::comm
