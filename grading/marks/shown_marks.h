#pragma once

#include <string>
#include <vector>

#include "grading/marks/lab_marks.h"

namespace lab::grading {

/// Marks as a reader sees them, rounded down to a tenth, so that they never show more than was reached.
/// Example   shown_marks(5.0 / 3) == "1.6"; shown_marks(5) == "5"
std::string shown_marks(double marks);

/// "A9: 61 of 100 (5 of them a bonus), 20 pending, 6 not judged".
std::string headline(const LabMarks& marks);

/// Whether nothing of it was judged: it has no marks, not even 0.
bool has_no_marks(const MarkedItem& item);

/// What it waits for: "5 wait for a person", "2 wait for another grading".
std::vector<std::string> waiting_for(const MarkedItem& item);

}  // namespace lab::grading
