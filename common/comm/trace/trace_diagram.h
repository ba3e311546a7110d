#pragma once

#include <vector>

#include "common/comm/trace/trace.h"
#include "common/plot/plot_diagram.h"

namespace lab {

/// Time against rank: a row per rank, rank 0 on top, time to the right from the first event.
///
/// A computation is a box with its operation in it. The colour says whose turn it was (the event's `sequence`), the
/// shade its kind: the operation's first letter, the kind that began first being the palest. A built-in collective is a
/// grey box. A message is an arrow from the sender's row, when both ends had posted it, to the receiver's row, when it
/// had arrived; where one end is missing (its rank failed), from when the other had posted it to when that returned.
/// Where there is room, it bears the payload's label, or else its size.
/// Of more than a picture can show, the first to begin are drawn, and the title says so. A trace of nothing is a
/// picture that says that: a run that fails early has one.
plot::Diagram trace_diagram(const std::vector<TraceEvent>& events);

}  // namespace lab
