#pragma once

#include <string>

#include "common/course/rubric/rubric.h"

namespace lab::grading {

/// What an instructor reads before and while marking: every item with its marks, what to look for in those marked by
/// hand, where the reference solution is, and the files of the lab's answers/ folder (text in full, others by
/// size). `student`: an id, whose own questions and what their tables must hold are added; empty: nobody's.
/// Errors    UsageError: as questions_of(), for a student; the folder or a file in it cannot be read
std::string answer_key(const Rubric& rubric, const std::string& lab_folder, const std::string& student = "");

}  // namespace lab::grading
