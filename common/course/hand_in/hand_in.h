#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/course/course_tree.h"

namespace lab {

/// The contents of a lab's hand-in, from the student's tree.
struct HandIn {
  std::map<std::string, std::string> files;  ///< path from the lab's folder -> bytes: exactly what is asked for
  std::vector<std::string> problems;         ///< why it is incomplete, and what that costs, one message each
  std::vector<std::string> warnings;         ///< what the student should know, one message each
};

/// Collects the sources and answers that the rubric's [hand_in] lists, and, if present, what manual items name in
/// addition (`also`); text is converted to UTF-8. Problems: a file that is missing or not text, an answer that is
/// still its template (NAME.template.md), a TODO that costs marks, the log of a run that was not right. Warnings: a TODO
/// that costs bonus marks or none, text that was converted, files that are not handed in,
/// provided files that were changed, and sources that include one of these.
/// Where the rubric has `snippets_in`, only that answer is handed in, with the sources in it, and what goes with it.
HandIn collect_hand_in(const CourseTree& tree, const Rubric& lab);

/// Copies what a run left in `results` for this hand-in to the lab's folder: answers and what goes with them, if they are
/// newer than the student's files. Those already there stay if they are, too, such as the log of a run on a cluster; older
/// ones are replaced, and kept in .lab-backup/.
/// Returns   the names that were taken
std::vector<std::string> take_results(const CourseTree& tree, const Rubric& lab, const std::string& results);

/// True if the hand-in needs a run whose results are older than the student's files, or missing in the lab's folder and
/// in the tree's root, where a run on a cluster leaves them.
bool needs_run(const CourseTree& tree, const Rubric& lab);

/// Writes it to submission/ in the tree's root, complete or not: "submission/a9_collectives.zip", or the files
/// themselves if the sources are part of an answer. Includes the student's identity, if the tree knows it.
/// Returns   what was written, from the tree's root
std::vector<std::string> write_hand_in(const CourseTree& tree, const Rubric& lab, const HandIn& hand_in);

}  // namespace lab
