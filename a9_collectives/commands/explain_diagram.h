#pragma once

#include "a9_collectives/commands/explanation.h"
#include "common/plot/plot_diagram.h"

namespace lab::a9 {

/// Ranks as columns, time downwards: each rank's input as boxes, one row of arrows per step, each rank's result as
/// boxes. Boxes have the colour of the rank that they come from, arrows that of their sender; sums are grey. The
/// size follows from the ranks, chunks and steps.
plot::Diagram explain_diagram(const Explanation& explanation);

}  // namespace lab::a9
