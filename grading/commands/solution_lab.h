#pragma once

#include <string>
#include <vector>

#include "grading/judge/judging_place.h"
#include "grading/solutions/generated/lab_mutants.h"
#include "grading/solutions/generated/trials/orders.h"

namespace lab::grading {

/// A lab with a table of solutions, applied to its reference.
struct SolutionLab {
  const JudgedLab& lab;
  Rubric rubric;
  BuildRecipe recipe;
  std::vector<Solution> rows;
  generated::LabMutants mutants;  ///< ids are 1, 2, ... in the order of the rows
};

/// `programs`: the folder of the build whose programs its student files are part of.
/// Errors    UsageError: a row does not fit
SolutionLab solution_lab(const JudgingPlace& place, const JudgedLab& lab, const char* programs,
                         std::vector<Solution> rows);

/// Runs an order in a lab's trial program.
std::vector<generated::TrialReport> performed_by(const std::string& program, const generated::TrialOrder& order);

}  // namespace lab::grading
