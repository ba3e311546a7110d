#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/comm/trace/rank_trace.h"
#include "common/comm/trace/trace.h"

namespace lab::comm {

/// A trace as the interactive timeline of a page (common/page/pages/timeline.js) reads it, times in seconds:
///
///     {ranks, left_out, clocks: [{name, boxes: [[rank, start, end, text, kind]], arrows: [[src_rank, dst_rank, start,
///     end, text, lost]], path: [[src_rank, dst_rank, start, end]], checks: [start]}]}
///
/// A box's kind is "collective", or missing. `checks` are the moments at which a piece of work begins, other than the
/// first (TraceEvent::model_period). The clocks are model time, with its critical path, where the trace has it, and the
/// time of the clock on the wall. Of a trace with more messages and computations than a page can draw, the earliest are
/// in it, and `left_out` counts the others. A message is lost if somebody waited for it in vain: its end is then where there is room to see it.
nlohmann::json timeline_json(const std::vector<TraceEvent>& events);

/// The same of one piece of work, small enough for a page with many of them: a row for each rank, in model time only,
/// with what each rank computed in between. Each rank's events must be its own. `is_whole`: no rank was stopped before
/// its end, so there is a critical path, unless something is left out. A field `is_cut` says that ranks did more than
/// was kept of them.
nlohmann::json timeline_json(const std::vector<RankTrace>& by_rank, bool is_whole);

}  // namespace lab::comm
