#pragma once

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
  /// True if something that may take this answer's place is there: a PDF where a PNG was asked for.
  bool is_replaced(const std::string& answer) const;

 private:
  const CourseTree& tree_;
  const Rubric& lab_;
  std::vector<std::string> sources_, also_;
};

/// "written_answers_task1.template.md" of "written_answers_task1.md".
std::string template_of(const std::string& answer);

/// The local pictures that a markdown text shows: "curves.png" of "![loss](curves.png)".
std::vector<std::string> pictures_in(const std::string& markdown);

}  // namespace lab
