#pragma once

#include <string>

#include "common/pipeline/timeline.h"

namespace lab::pipeline {

/// The timeline as text, a line per rank, time to the right, at most `columns` wide: computations under their short
/// names, with widths proportional to their duration; where that is too narrow, only their letter.
/// Example   of 1f1b on 2 ranks with 2 micro-batches, forward 1 and backward 2, in 40 columns
///           rank 0 |F0 F1 ..... B0--- .. B1---|
///           rank 1 |.. F0 B0--- F1 B1--- .....|
/// Errors    UsageError: no room for a single column of time
std::string timeline_text(const Schedule& schedule, const Timeline& timeline, int columns = 120);

/// Makespan, bubble, peak live activations of each rank and bytes of each link, in a few lines. Times in `unit`, one of
/// "s" (described in s, ms or us, whichever reads best) and "" (bare numbers, for costs that are only proportions).
/// Errors    UsageError: another unit
std::string timeline_summary(const Schedule& schedule, const Timeline& timeline, const std::string& unit);

}  // namespace lab::pipeline
