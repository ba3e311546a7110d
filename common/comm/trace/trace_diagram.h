#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/comm/trace/critical_path.h"
#include "common/comm/trace/trace.h"
#include "common/plot/plot_diagram.h"

namespace lab::comm {

/// How a trace is drawn.
struct TraceView {
  std::string axis = "time since the first event";
  std::optional<double> origin_seconds;  ///< empty: the first event
  std::vector<PathStep> path;            ///< drawn in red on the ranks' lines, or below their computations
};

/// Rank over time: a row per rank, rank 0 on top, time to the right from the first event.
///
/// A computation is a box labelled with its operation. The colour shows its turn (the event's `sequence`), the shade
/// its kind: the operation's first letter; the kind that began first is the palest. A built-in collective is a grey
/// box. A message is an arrow from the sender's row, when both ends had posted it, to the receiver's row, when it had
/// arrived; if one end is missing (its rank failed), from when the other had posted it to when that returned. Where
/// there is room, it is labelled with the payload's label, or else its size. If there is more than a picture can show,
/// the earliest are drawn, and the title says so. An empty trace, as of a run that fails early, gives a picture that
/// says so.
plot::Diagram trace_diagram(const std::vector<TraceEvent>& events, const TraceView& view = {});

}  // namespace lab::comm
