#pragma once

#include <string>
#include <vector>

#include "grading/marks/lab_marks.h"
#include "grading/marks/lab_outcome.h"

namespace lab::grading {

/// What a student may read of marks in which some items are not visible, or held back: whatever is handed out is written
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
  /// Whether a check may be named. Its marks count in any case.
  bool shows_check(const std::string& name) const;
  /// How to replay; empty while that is held back.
  const std::string& seed() const { return seed_; }
  /// What is held back, without saying more: "Held back until 2026-12-01 18:00 +01:00: the seed, 2 items, 1 check".
  std::vector<std::string> held() const;

 private:
  bool is_item(const std::string& name) const;
  bool names_hidden(const std::string& line) const;

  std::vector<std::string> hidden_names_, held_checks_;
  LabMarks marks_;
  std::string seed_;
  std::size_t num_hidden_ = 0;
};

/// What stands in place of such a line, and what a report says at its top.
inline constexpr char kNotShownLine[] = "(not shown)";
inline constexpr char kNotShownNote[] = "Some of it is not shown. The marks here are those of what is.";

}  // namespace lab::grading
