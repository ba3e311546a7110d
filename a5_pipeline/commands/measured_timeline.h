#pragma once

#include <vector>

#include "common/comm/trace/trace.h"
#include "common/pipeline/timeline.h"

namespace lab::a5 {

/// A traced run of the schedule as a timeline that begins with its first computation: computations are identified by
/// their names ("F3"), messages by their tags. Other events of the trace are ignored. Live activations and traffic are
/// not filled in.
pipeline::Timeline measured_timeline(const pipeline::Schedule& schedule, const std::vector<TraceEvent>& trace);

}  // namespace lab::a5
