#pragma once

#include <cstdint>
#include <vector>

#include "common/comm/messages/model_time.h"
#include "common/comm/trace/trace.h"

namespace lab::comm {

/// What one rank did during one piece of work, in model time: one period of a trace (TraceEvent::model_period).
struct RankTrace {
  std::vector<TraceEvent> events;  ///< in the order in which they ended
  std::int64_t length_ps = 0;      ///< how long it took; 0: unknown, at least to the last event's end
  bool is_cut = false;             ///< there were more events than were kept
};

/// True for a message whose wait was under way when the world ended.
inline bool never_completed(const TraceEvent& event) {
  return event.kind == TraceKind::kMessage && event.model_arrived < 0;
}

/// The time in which a rank neither handles messages nor waits, so it computes: the parts of its trace that no event
/// explains, each as an event of kind kComputation.
/// Example   a rank that works for 5 us, sends, and works for 3 us until it returns: two events
std::vector<TraceEvent> computations(const RankTrace& trace, int rank, const ModelRates& rates = {});

}  // namespace lab::comm
