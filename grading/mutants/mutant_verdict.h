#pragma once

#include <string>
#include <vector>

#include "common/course/rubric/rubric.h"
#include "grading/marks/lab_outcome.h"
#include "grading/mutants/mutant_index.h"

namespace lab::grading {

/// The result of grading a mutant.
struct MutantVerdict {
  std::string name;
  bool as_required = false;
  std::string caught_by;          ///< the first check that failed, and why
  std::string symptom;            ///< its id
  std::vector<std::string> lost;  ///< all tasks that lost marks
  std::string complaint;          ///< what is not as required
  double seconds = 0;
};

/// Compares an outcome with what is required: a mutant loses marks for its task, by the checks and with the symptom
/// that it names, and for no other task but those that need it; a variant loses none.
MutantVerdict mutant_verdict(const Mutant& mutant, const Rubric& rubric, const LabOutcome& outcome);

/// For passing a verdict from one process to another.
std::string to_json(const MutantVerdict& verdict);
MutantVerdict mutant_verdict_from_json(const std::string& text);

}  // namespace lab::grading
