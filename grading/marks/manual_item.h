#pragma once

#include <vector>

#include "common/course/rubric.h"
#include "grading/marks/lab_marks.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

/// The most that a person can give: the item's marks, or 1 (met) where a ladder counts it.
double most_marks(const RubricManual& manual);

/// A manual item's line: what a person gave; pending without that; 0 where none of its files was handed in.
MarkedItem mark_manual(const RubricManual& manual, const LabOutcome& outcome, const std::vector<ManualMark>& by_hand);

}  // namespace lab::grading
