#pragma once

#include "common/course/rubric.h"
#include "grading/marks/lab_marks.h"
#include "grading/marks/needs.h"

namespace lab::grading {

/// A ladder's line: the marks of the highest rung whose needs, and those of the rungs below it, are met; what a rung
/// above it would add if it only waits for a person is pending.
MarkedItem mark_ladder(const RubricLadder& ladder, const Needs& needs);

/// A bonus' line: its marks, or nothing.
MarkedItem mark_bonus(const RubricBonus& bonus, const Needs& needs);

}  // namespace lab::grading
