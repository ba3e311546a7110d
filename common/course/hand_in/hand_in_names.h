#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// The files that a lab's hand-in may hold, by path from the lab's folder: what `submit` packs and `grade` takes.
struct HandInNames {
  std::vector<std::string> sources;  ///< single files, folders resolved
  std::vector<std::string> answers;  ///< asked for
  std::vector<std::string> also;     ///< may go with the answers, or replace one

  bool is_answer(const std::string& path) const;  ///< or goes with one
};

/// `student_files` are all files that are handed out in the lab's student/ folder.
HandInNames hand_in_names(const Rubric& lab, const std::vector<std::string>& student_files);

/// In a student's tree: from the files that were handed out, even if they are missing now; in the suite's own tree,
/// from the rubric's.
HandInNames hand_in_names(const CourseTree& tree, const Rubric& lab);

/// The answers that are neither among these files nor replaced by one of them. A file that an item names in `also`
/// replaces the item's own if it differs only in type, such as a PDF where a PNG was asked for; a sketch that goes with
/// written answers does not replace them.
std::vector<std::string> missing_answers(const Rubric& lab, const std::set<std::string>& handed_in);

/// The local pictures that a Markdown text shows: "curves.png" of "![loss](curves.png)".
std::vector<std::string> pictures_in(const std::string& markdown);

}  // namespace lab
