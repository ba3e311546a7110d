#pragma once

#include "common/pipeline/timeline.h"
#include "common/plot/plot_diagram.h"

namespace lab::pipeline {

struct TimelineLook {
  bool messages = false;  ///< arrows from rank to rank, labelled with the handout's operations where there is room
  std::string title;      ///< empty: kind, ranks, micro-batches, makespan, bubble
  std::string time_unit;  ///< of the axis: "" (proportions) or "s", "ms", "us"; its numbers are scaled to it
};

/// A row per rank, rank 0 on top, time to the right: a box per computation, coloured by micro-batch (forward light,
/// backward strong, the two halves of a split backward apart), bubbles grey. Messages from the last rank to rank 0 and
/// back leave at one edge and come in at the other.
/// Errors    UsageError: another unit
plot::Diagram timeline_diagram(const Schedule& schedule, const Timeline& timeline, const TimelineLook& look = {});

}  // namespace lab::pipeline
