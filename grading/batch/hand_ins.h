#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grading/batch/download_name.h"

namespace lab::grading {

/// One file or folder that was handed in.
struct HandIn {
  std::string path;
  std::string shown;              ///< the same from the folder of all submissions, for messages
  std::string called;             ///< as the student called it: it may say which lab it is
  std::vector<Student> students;  ///< as the platform says; several: a group; none: only the hand-in itself can say
  bool is_late = false;
  std::int64_t version = 0;  ///< of one student's, the largest counts
};

/// What is in a folder of submissions.
struct HandIns {
  std::vector<HandIn> found;       ///< by path
  std::vector<std::string> notes;  ///< what was left out, and why
};

/// Finds the hand-ins in a folder: archives, A5's answers, folders. Who handed them in is read from the names that
/// Canvas, Moodle and Gradescope give to the files of a bulk download, or by `names`. In a folder with nothing but
/// archives and answers, each of these is a hand-in.
/// Errors    UsageError: the folder cannot be read, or has none
HandIns find_hand_ins(const std::string& folder, const std::optional<NamePattern>& names);

}  // namespace lab::grading
