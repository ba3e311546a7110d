#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// What may surprise a student when these files are graded in a pristine tree, a sentence each: files of the lab that
/// stay behind, provided files that were changed, and sources that include one of either. In a tree that is no starter
/// nobody knows what was provided, and only the includes are looked at.
std::vector<std::string> hand_in_warnings(const CourseTree& tree, const Rubric& lab,
                                          const std::map<std::string, std::string>& handed_in);

}  // namespace lab
