#pragma once

#include <vector>

#include "common/comm/trace/trace.h"
#include "common/plot/plot_diagram.h"

namespace lab::comm {

/// The trace twice, one diagram (trace_diagram.h) below the other: by the clock, with its axis on top, and in model
/// time, with its axis at the bottom and the critical path in red. Both are as wide as the picture, so lengths compare
/// within each half only. A trace without model time is drawn once.
plot::Diagram trace_picture(const std::vector<TraceEvent>& events);

}  // namespace lab::comm
