#pragma once

#include <map>
#include <string>

#include "grading/submission/submission.h"

namespace lab::grading {

/// Takes from a lab's files (paths from the lab's folder) what its hand-in asks for, and reports what became of others.
SubmittedLab take_lab(const KnownLab& lab, const std::map<std::string, std::string>& files);

}  // namespace lab::grading
