#pragma once

#include <vector>

#include "common/comm/trace/rank_trace.h"
#include "common/comm/trace/trace.h"
#include "common/plot/timeline.h"

namespace lab::comm {

/// A trace as a picture: by the clock on the wall, and below in model time with the critical path, where the trace has
/// it. A dashed line is where a piece of work begins, other than the first (TraceEvent::model_period).
///
/// A computation's colour shows its turn (the event's `sequence`), the shade its kind: the operation's first letter; the
/// kind that began first is the palest. A built-in collective is grey. A message is an arrow from when both ends had
/// posted it to when it had arrived; if one end is missing, by the other's times. It is lost, and dashed, if somebody
/// waited for it in vain: its end is then where there is room to see it. Where there is room, it is labelled with the
/// payload's label, or else its size. Of a trace with more than a picture can show the earliest are drawn, and the title
/// says so.
plot::Timeline trace_timeline(const std::vector<TraceEvent>& events);

/// The same of one piece of work, small enough for a page with many of them: a row for each rank, in model time only,
/// with what each rank computed in between. Each rank's events must be its own. `is_whole`: no rank was stopped before
/// its end, so there is a critical path, unless something is left out.
plot::Timeline trace_timeline(const std::vector<RankTrace>& by_rank, bool is_whole);

}  // namespace lab::comm
