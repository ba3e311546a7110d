#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grading/batch/class_folder.h"
#include "grading/batch/class_plan.h"

namespace lab::grading {

/// What one student, or a group, handed in for one lab.
struct StudentCode {
  const PlannedHandIn* hand_in = nullptr;
  std::map<std::string, std::string> sources;  ///< as in SubmittedLab
};

/// The code of a class. Of several hand-ins of a student for a lab, only the last is there.
struct ClassCode {
  ClassPlan plan;
  std::map<std::string, std::vector<StudentCode>> labs;  ///< lab -> of those who handed in code for it
  std::vector<std::string> not_compared;                 ///< what could not be read, and why
};

/// Reads all hand-ins, each in a process of its own.
/// Returns   nothing: a signal stopped it, which is then in `signal`
std::optional<ClassCode> read_class_code(const ClassFolder& folder, const Roster* roster, int jobs, int& signal);

/// Whether somebody had a part in both: the same student, or members of a group of whom one is in both.
bool have_common_student(const PlannedHandIn& a, const PlannedHandIn& b);

}  // namespace lab::grading
