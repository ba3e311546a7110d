#pragma once

#include <cstdint>
#include <vector>

#include "common/comm/trace/trace.h"

namespace lab::comm {

/// A part of the critical path: time that passes on one rank, or a message (also a collective's wait for its last
/// member) that leads from one rank to another. In model time, picoseconds.
struct PathStep {
  int src_rank = 0, dst_rank = 0;  ///< equal: on one rank
  std::int64_t begin = 0, end = 0;
};

/// The longest chain of work and messages in model time, from the beginning of a period (TraceEvent::model_period) to
/// its end: shortening anything else does not end it earlier. In the order of time.
/// `events`: all of one period
std::vector<PathStep> critical_path(const std::vector<TraceEvent>& events);

/// The trace with model time in place of time: `start_seconds`, `end_seconds`, `arrived_seconds` and the model's own
/// fields count from the trace's beginning; each period begins where the one before ended on the last rank.
std::vector<TraceEvent> in_model_time(std::vector<TraceEvent> events);

/// The critical paths of all periods of such a trace.
std::vector<PathStep> critical_paths(const std::vector<TraceEvent>& in_model_time);

}  // namespace lab::comm
