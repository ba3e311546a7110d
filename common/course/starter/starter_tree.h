#pragma once

#include <map>
#include <string>

// A starter: what a student gets of the suite, in a folder. `.lab-pristine/` in it holds the student files as they were
// handed out, and a list of all files, by which an update tells the student's work from what was provided.
namespace lab {

struct StarterFile {
  std::string bytes;
  bool executable = false;
};

/// By path, such as "a9_collectives/student/broadcast/flat.cpp".
using StarterTree = std::map<std::string, StarterFile>;

inline constexpr char kPristineFolder[] = ".lab-pristine";
inline constexpr char kBackupFolder[] = ".lab-backup";

/// ".lab-pristine/files.txt": a folder that has it is a starter.
std::string starter_list_path();

/// Whether students write this file: it is in a lab's student/.
bool is_student_file(const std::string& path);

/// Size and checksum of a file's bytes: enough to detect an edit.
std::string compute_fingerprint(const std::string& bytes);

/// The list of a tree's files: a fingerprint and a path in each line.
std::string starter_list(const StarterTree& tree);

/// Fingerprints by path, from a folder's list; empty if the folder is not a starter.
/// Errors    UsageError: an invalid line
std::map<std::string, std::string> read_starter_list(const std::string& folder);

/// The starter in a folder, such as a new version that was unpacked.
/// Errors    UsageError: the folder is not a starter; a file is missing, or differs from the one that was handed out
StarterTree read_starter(const std::string& folder);

/// Where, in a tree's .lab-backup/, a version of a file can be kept: a name that is free, or that already holds these
/// bytes. Relative to the tree's root.
/// Example   ".lab-backup/a9_collectives/student/broadcast/flat.cpp", then "... flat.cpp.2"
std::string backup_place(const std::string& root, const std::string& path, const std::string& bytes);

/// Keeps a version of the file there.
/// Returns   the place, relative to the tree's root
/// Errors    UsageError: cannot be written
std::string keep_backup(const std::string& root, const std::string& path, const std::string& bytes);

}  // namespace lab
