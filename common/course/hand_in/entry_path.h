#pragma once

#include <string>

namespace lab {

/// A path in a submission: cleaned, or left out with a reason.
struct EntryPath {
  std::string path;     ///< cleaned: "a9_collectives/student/ring.cpp"; empty: the entry is not taken
  std::string why_not;  ///< "its path is absolute"; empty if it is taken, or silently skipped
};

/// Checks the raw path of an entry of an archive or folder. "./", doubled slashes and Windows' backslashes are cleaned
/// away; hidden files, __MACOSX and build folders are skipped.
EntryPath clean_entry_path(const std::string& raw);

/// The name for a message: anything that is not printable ASCII becomes "?", and a long name is cut.
std::string printable_name(const std::string& raw);

}  // namespace lab
