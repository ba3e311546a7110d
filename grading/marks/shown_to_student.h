#pragma once

#include <string>
#include <vector>

#include "grading/marks/lab_marks.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

/// What a student may read of marks in which some items are not visible: whatever is handed out is written
/// from it. It cannot wait for a date, so what the rubric shows only after one is not there either.
class ShownToStudent {
 public:
  ShownToStudent(const LabMarks& marks, const LabOutcome& outcome);

  /// The visible items, and what they add up to. Lines of theirs that name another item or its checks say only that
  /// something is not shown.
  const LabMarks& marks() const { return marks_; }
  /// The others.
  std::size_t num_hidden() const { return num_hidden_; }
  /// The lines, with those replaced that name what is not shown.
  std::vector<std::string> lines(const std::vector<std::string>& all) const;

 private:
  bool names_hidden(const std::string& line) const;

  std::vector<std::string> hidden_names_;
  LabMarks marks_;
  std::size_t num_hidden_ = 0;
};

/// What stands in place of such a line, and what a report says at its top.
inline constexpr char kNotShownLine[] = "(not shown)";
inline constexpr char kNotShownNote[] = "Some of it is not shown. The marks here are those of what is.";

}  // namespace lab::grading
