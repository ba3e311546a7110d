#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "grading/batch/anonymous_export.h"
#include "grading/batch/class_marks.h"
#include "grading/batch/class_overview.h"
#include "grading/batch/grade_class.h"
#include "grading/batch/gradebook_import.h"
#include "grading/batch/roster.h"

namespace lab::grading {

/// The files that are a whole class's: marks.csv, index.html, what the roster's platform imports, and an export without
/// names, whose key is in pseudonyms.key. What they need is read and refused before anything is graded.
class ClassFiles {
 public:
  /// `labs` are all that may be handed in. Makes the folders.
  /// Errors    UsageError: a roster or column that cannot be used, or options that need a roster without one; the
  ///           export's folder is not empty, or is among the hand-ins
  ClassFiles(const ClassOrder& order, const std::vector<std::string>& labs);

  /// Null if there is none.
  const Roster* roster() const { return roster_.get(); }

  /// Writes all of them, and names each on stdout. `labs` are those that somebody has handed in; `num_open` is how many
  /// results wait for another grading, or for somebody to look.
  void write(const std::vector<MarkedStudent>& students, const std::vector<std::string>& labs,
             const ClassOverview& overview, std::size_t num_open) const;

 private:
  std::string pseudonyms_key() const;
  void write_anonymously(const std::vector<MarkedStudent>& students, const std::vector<std::string>& labs) const;
  void write_gradebook(const std::vector<MarkedStudent>& students, const std::vector<std::string>& labs) const;

  const std::string out_, anonymous_;
  const bool with_pending_;
  std::unique_ptr<Roster> roster_;
  std::unique_ptr<GradebookImport> gradebook_;  ///< if there is a roster
  std::unique_ptr<Pseudonyms> pseudonyms_;      ///< if there is an anonymous export
};

}  // namespace lab::grading
