#pragma once

#include "common/pipeline/timeline.h"

namespace lab::pipeline {

/// The makespan if computations waited only for each other's results: the schedule's messages, and when it posts and
/// awaits them, are ignored. A good schedule reaches it when messages are free.
double makespan_of_dependencies(const Schedule& schedule, const Costs& costs);

/// Whether each computation happens once, after what it depends on.
bool in_right_order(const Schedule& schedule, const Timeline& timeline);

}  // namespace lab::pipeline
