#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// The names of a lab's hand-in in a student's tree, by path from the lab's folder.
class HandInNames {
 public:
  HandInNames(const CourseTree& tree, const Rubric& lab);

  /// Every source file, folders resolved. In a starter those that were handed out, whether they are there or not.
  const std::vector<std::string>& sources() const { return sources_; }
  /// What may go with the answers, or take the place of one, and is no answer itself.
  const std::vector<std::string>& also() const { return also_; }

 private:
  std::vector<std::string> sources_, also_;
};

/// The answers that are neither among these files nor replaced by one of them. A file that an item names in `also`
/// takes the place of the item's own where it differs only in its kind, as a PDF where a PNG was asked for; a sketch
/// that goes with written answers does not replace them.
std::vector<std::string> missing_answers(const Rubric& lab, const std::set<std::string>& handed_in);

/// The local pictures that a markdown text shows: "curves.png" of "![loss](curves.png)".
std::vector<std::string> pictures_in(const std::string& markdown);

}  // namespace lab
