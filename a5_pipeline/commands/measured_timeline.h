#pragma once

#include <vector>

#include "common/comm/trace/trace.h"
#include "common/pipeline/timeline.h"

namespace lab::a5 {

/// What a traced run of the schedule did, as a timeline that begins with its first computation: computations are known
/// by their names ("F3"), messages by their tags. Live activations and traffic are not in it. Other events of the trace
/// are left out.
pipeline::Timeline measured_timeline(const pipeline::Schedule& schedule, const std::vector<TraceEvent>& trace);

}  // namespace lab::a5
