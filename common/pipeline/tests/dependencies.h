#pragma once

#include "common/pipeline/timeline.h"

namespace lab::pipeline {

/// The makespan if computations waited for nothing but each other's results: the schedule's messages, and when it posts
/// and awaits them, are ignored. What a good schedule reaches when messages are free.
double makespan_of_dependencies(const Schedule& schedule, const Costs& costs);

/// Whether each computation happens once, after what it depends on: as validate() sees it, but read off the times.
bool in_right_order(const Schedule& schedule, const Timeline& timeline);

}  // namespace lab::pipeline
