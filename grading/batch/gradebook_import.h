#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grading/batch/class_marks.h"
#include "grading/batch/roster.h"

namespace lab::grading {

/// A class's marks in the form that the platform imports which the roster comes from: Canvas' gradebook, or the grading
/// worksheet of a Moodle assignment.
/// Source    canvas-lms, gradebook_importer.rb; moodle, mod/assign/feedback/offline/importgradeslib.php
class GradebookImport {
 public:
  /// `columns`: where a lab's marks go, each "a9=A9 Collectives (123456)". Without one, a lab's column in Canvas is the
  /// only one of an assignment whose name has the lab's short name as a word.
  /// Errors    UsageError: a lab or column that is not there, with the nearest; one that is named twice; columns for a
  ///           roster of neither platform
  GradebookImport(const Roster& roster, const std::vector<std::string>& labs, const std::vector<std::string>& columns);

  /// "canvas.csv", "moodle.csv"; empty: the roster is of neither platform.
  const std::string& file() const { return file_; }

  struct Result {
    std::string csv;                 ///< empty: there is no column to fill in
    std::vector<std::string> notes;  ///< for the instructor: what is not in it, and why
    bool is_unclear = false;         ///< several labs, and no option says whose column is to be filled in
    std::map<std::size_t, std::string> not_filled_in;  ///< by place in `students`: why
  };
  /// The columns by which the platform finds its students, and of each lab its column. A cell gets the marks, rounded
  /// down to hundredths, if why_not_final() has nothing against it. Else it stays as it was exported, as does that of an
  /// excused student: an empty one would delete marks. `labs`: that were asked for; of several, only those get marks whose
  /// column was named.
  /// Moodle's feedback gets the marks of each visible item.
  Result of(const std::vector<MarkedStudent>& students, const std::vector<std::string>& labs, bool with_pending) const;

 private:
  void choose(const std::string& text, const std::vector<std::string>& labs);
  std::vector<std::size_t> candidates_for(const std::string& lab) const;
  /// The column of each lab that has one; the others are in the notes.
  std::map<std::string, std::size_t> take_columns(const std::vector<std::string>& labs, Result& result) const;
  std::vector<std::string> list_names(const std::vector<std::size_t>& columns) const;

  const Roster& roster_;
  std::string file_;
  std::map<std::string, std::size_t> columns_;  ///< by lab: those that were named
  std::vector<std::size_t> assignments_;        ///< columns that marks can go into
};

}  // namespace lab::grading
