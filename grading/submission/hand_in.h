#pragma once

#include <set>
#include <string>
#include <vector>

#include "grading/submission/submission.h"

namespace lab::grading {

/// The names that a lab's hand-in may hold.
struct HandInNames {
  std::vector<std::string> sources;  ///< single files, folders resolved
  std::set<std::string> answers;     ///< also those that may take another's place
};

HandInNames hand_in_names(const KnownLab& lab);

}  // namespace lab::grading
