#pragma once

#include <string>

#include "common/course/rubric/rubric.h"

namespace lab::grading {

/// The part of a lab's rubric that its outcomes depend on, as text: where it changes, the lab is judged again, and no
/// other. All of the lab: what a task needs decides for other tasks, too, which parts the reference stands in for, which
/// of them is to blame, and what is withheld. Everything else is applied to outcomes that are kept, again and again:
/// marks, bonuses, ladders, visibility.
std::string judging_part(const Rubric& rubric);

}  // namespace lab::grading
