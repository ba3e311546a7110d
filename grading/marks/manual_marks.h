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
std::string find_version(const Rubric& rubric, const RubricManual& manual,
                         const std::map<std::string, std::string>& answers);

/// A manual item's line: what a person gave for this version of its files; pending without that, and marks for another
/// version are only mentioned; 0 where none of its files was handed in.
MarkedItem mark_manual(const Rubric& rubric, const RubricManual& manual, const LabOutcome& outcome,
                       const std::vector<ManualMark>& by_hand);

/// Reads manual.toml ([[manual]] id, marks, comment, hand_in); none if there is no such file. An item without marks has
/// not been looked at yet. `hand_in` is the find_version() what was marked.
/// Errors    UsageError: an unknown id, with the nearest; marks below 0 or above the item's; no version, or one twice
std::vector<ManualMark> load_manual_marks(const std::string& path, const Rubric& rubric);

/// Writes a manual.toml to fill in, with each item, its marks, and what to look for as comments, unless there is nothing
/// to mark by hand. To an existing one it adds an entry for each item whose files have changed since
/// they were marked, and leaves the rest as it is. `marks` has an item for each manual item of the rubric.
/// Errors    UsageError: cannot be written
void write_manual_form(const std::string& path, const Rubric& rubric, const LabMarks& marks);

}  // namespace lab::grading
