#pragma once

#include <string>
#include <vector>

#include "common/course/rubric.h"
#include "grading/marks/lab_marks.h"

namespace lab::grading {

/// Reads manual.toml ([[manual]] id, marks, comment); none if there is no such file. An item without marks is still to
/// be looked at.
/// Errors    UsageError: an unknown id, with the nearest; marks below 0 or above the item's; an item twice
std::vector<ManualMark> load_manual_marks(const std::string& path, const Rubric& rubric);

/// Writes a manual.toml to fill in, with each item, its marks, what to look for, and the suggestion as comments, unless
/// there is one already, or nothing to mark by hand.
/// Errors    UsageError: cannot be written
void write_manual_form(const std::string& path, const Rubric& rubric, const LabMarks& marks);

}  // namespace lab::grading
