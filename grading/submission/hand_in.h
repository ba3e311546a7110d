#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "grading/submission/submission.h"

namespace lab::grading {

/// The names that a lab's hand-in may hold, and those that it must.
struct HandInNames {
  std::vector<std::string> sources;  ///< single files, folders resolved
  std::set<std::string> answers;     ///< also those that may take another's place
  std::vector<std::string> required_answers;
};

HandInNames hand_in_names(const KnownLab& lab);

/// The answers that are required, and neither there nor replaced by another: a PDF may be asked for instead of a PNG.
std::vector<std::string> missing_answers(const KnownLab& lab, const std::set<std::string>& handed_in);

}  // namespace lab::grading
