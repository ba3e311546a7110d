#pragma once

#include "common/course/rubric.h"
#include "grading/marks/lab_marks.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

/// A task's line: its marks by its checks, and what a student needs to know of those that failed. It is skipped where
/// it failed after one of its needs did; what passed of it counts all the same.
MarkedItem mark_task(const RubricTask& task, const LabOutcome& outcome);

}  // namespace lab::grading
