#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/comm/trace/trace.h"

namespace lab::comm {

/// A trace as the interactive timeline of a page (common/page/pages/timeline.js) reads it, times in seconds:
///
///     {ranks, left_out, clocks: [{name, boxes: [[rank, start, end, text]], arrows: [[src_rank, dst_rank, start, end,
///     text]], path: [[src_rank, dst_rank, start, end]]}]}
///
/// The clocks are model time, with its critical path, where the trace has it, and the time of the clock on the wall. Of a
/// trace with more messages and computations than a page can draw, the earliest are in it, and `left_out` counts the
/// others.
nlohmann::json timeline_json(const std::vector<TraceEvent>& events);

}  // namespace lab::comm
