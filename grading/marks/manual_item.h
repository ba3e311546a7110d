#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/course/rubric/rubric.h"
#include "grading/marks/lab_marks.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

/// The most that a person can give: the item's marks, or 1 (met) where a ladder counts it.
double most_marks(const RubricManual& manual);

/// A checksum of the item's files, which ties marks given by a person to these files and not to an earlier hand-in;
/// "nothing" if there are none. Code in an answer is not part of it.
std::string version_of(const Rubric& rubric, const RubricManual& manual,
                       const std::map<std::string, std::string>& answers);

/// A manual item's line: what a person gave for this version of its files; pending without that, and marks for another
/// version are only mentioned; 0 where none of its files was handed in.
MarkedItem mark_manual(const Rubric& rubric, const RubricManual& manual, const LabOutcome& outcome,
                       const std::vector<ManualMark>& by_hand);

}  // namespace lab::grading
