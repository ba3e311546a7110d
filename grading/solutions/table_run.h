#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/checks/checked_sizes.h"
#include "common/course/rubric/rubric.h"
#include "grading/processes/own_processes.h"
#include "grading/solutions/generated/lab_mutants.h"
#include "grading/solutions/generated/trials/orders.h"

namespace lab::grading {

/// Tries a lab's rows on ranks that are threads, as `lab check` does, in the trial program that holds them all.
struct TableRun {
  const std::vector<Case>& cases;
  const Rubric& rubric;
  const std::vector<Solution>& rows;
  const generated::LabMutants& mutants;  ///< ids are 1, 2, ... in the order of the rows
  std::vector<int> sizes;                ///< on which a wrong row must be caught, those that see most first
  std::vector<int> wide;                 ///< on which what must keep its marks is tried
  CheckedSizes checked;                  ///< which cases have these sizes
  int jobs = 2;
  std::function<std::vector<generated::TrialReport>(const generated::TrialOrder&)> perform;

  /// The verdicts of these rows, in order. A wrong one must be caught by a case of its task, by the checks and with the
  /// symptom that it names, and cost no other task its marks but those that may lose them; a right one none.
  /// Errors    UsageError: the reference fails in a case
  std::vector<Verdict> run(const std::vector<int>& ids) const;
};

/// The task that a row must cost its marks: the one it names, or between whose markers it begins.
std::string read_task(const Solution& row, const generated::SourceMutant& mutant);

}  // namespace lab::grading
