#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "grading/batch/class_folder.h"
#include "grading/batch/class_plan.h"
#include "grading/batch/graders.h"
#include "grading/judge/grade_hand_in.h"

namespace lab::grading {

/// A class's hand-ins, and how they are graded.
struct ClassOrder {
  ClassSource source;
  std::string out;
  std::vector<std::string> columns;  ///< see GradebookImport
  bool with_pending = false;         ///< in the gradebook's import, pending marks are 0
  ClassChoice choice;
  HandInOptions how;
  std::optional<std::uint64_t> seed;  ///< otherwise it is the one of the earlier results, or a new one
  GraderOptions graders;
};

/// Grades what is due of a class's hand-ins. Each has a process of its own (graders.h), which leaves the files of `lab
/// grade` in OUT/WHO/LAB; then its results are kept in OUT/results.sqlite, and last the class's own files are written (see
/// ClassFiles), with the marks that were given by hand meanwhile. Interrupted, however roughly, it goes on where it was.
/// Returns   kNotJudged if something waits for another grading or could not be graded; 128 + signal if it was stopped
/// Errors    UsageError: nothing to grade; a roster, pattern or store that cannot be used
ExitCode grade_class(const JudgingPlace& place, ClassOrder order);

}  // namespace lab::grading
