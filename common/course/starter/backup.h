#pragma once

#include <string>

namespace lab {

/// Where, in a tree's .lab-backup/, a version of a file can be kept: a name that is free, or that already holds these
/// bytes. Relative to the tree's root.
/// Example   ".lab-backup/a9_collectives/student/broadcast/flat.cpp", then "... flat.cpp.2"
std::string backup_place(const std::string& root, const std::string& path, const std::string& bytes);

/// Keeps a version of the file there.
/// Returns   the place, relative to the tree's root
/// Errors    UsageError: cannot be written
std::string keep_backup(const std::string& root, const std::string& path, const std::string& bytes);

}  // namespace lab
