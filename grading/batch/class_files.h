#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "grading/batch/class_marks.h"
#include "grading/batch/class_overview.h"
#include "grading/batch/grade_class.h"
#include "grading/batch/gradebook_import.h"
#include "grading/batch/roster.h"

namespace lab::grading {

/// The files that are a whole class's: marks.csv, index.html, and what the roster's platform imports. What they need is
/// read and refused before anything is graded.
class ClassFiles {
 public:
  /// `labs` are all that may be handed in. Makes the folder.
  /// Errors    UsageError: a roster or column that cannot be used, or options that need a roster without one
  ClassFiles(const ClassOrder& order, const std::vector<std::string>& labs);

  /// Null if there is none.
  const Roster* roster() const { return roster_.get(); }

  /// What is marked: labs that have results, and those of them that this run was asked for.
  struct MarkedLabs {
    std::vector<std::string> all, asked;
  };
  /// Writes all of them, and names each on stdout.
  /// Returns   how many students somebody has to look at, or grade again
  std::size_t write(std::vector<MarkedStudent> students, const MarkedLabs& labs, const ClassOverview& overview) const;

 private:
  GradebookImport::Result write_gradebook(const std::vector<MarkedStudent>& students,
                                          const std::vector<std::string>& labs) const;

  const std::string out_;
  const bool with_pending_;
  std::unique_ptr<Roster> roster_;
  std::unique_ptr<GradebookImport> gradebook_;  ///< if there is a roster
};

}  // namespace lab::grading
