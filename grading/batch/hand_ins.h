#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grading/batch/download_name.h"
#include "grading/batch/roster.h"

namespace lab::grading {

/// One file or folder that was handed in. Whether a lab is in it shows only when it is read.
struct HandIn {
  std::string path;
  std::string shown;              ///< the same from the folder of all submissions, for messages
  std::string called;             ///< as the student called it: it may say which lab it is
  std::vector<Student> students;  ///< as the platform says; several: a group; none: only the hand-in itself can say
  bool is_late = false;
  std::int64_t version = 0;                      ///< of one student's, the largest counts
  enum class Kind { kArchive, kFolder, kFile };  ///< by its name
  Kind kind = Kind::kArchive;
  std::string folder = {};     ///< of the student, with other files of the same hand-in; empty: this is all
  std::string anonymous = {};  ///< what the platform calls a student whom it does not name
};

/// What is in a folder of submissions.
struct HandIns {
  std::vector<HandIn> found;       ///< by path
  std::vector<std::string> notes;  ///< what was left out, and why
  std::vector<std::string> lost =
      {};  ///< what was left out of an archive of all, and why: it may be somebody's hand-in
};

/// Where hand-ins are looked for, and what their names mean.
struct DownloadFolder {
  std::string path;
  std::optional<NamePattern> names;  ///< none: as Canvas, Moodle and Gradescope name them
  const Roster* roster = nullptr;    ///< may decide between several meanings of a name
  std::string results = {};          ///< a folder that is not a hand-in
};

/// Finds the hand-ins in a folder, or in the one folder around everything: archives, A5's answers, folders, and whatever
/// else a platform names after a student. In a student's folder, archives and answers count next to the folder itself.
/// Errors    UsageError: the folder cannot be read, has none, or holds more than one download
HandIns find_hand_ins(const DownloadFolder& folder);

}  // namespace lab::grading
