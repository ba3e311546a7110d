#pragma once

#include <string>

namespace lab {

/// What becomes of a path in a submission.
struct EntryPath {
  std::string path;     ///< cleaned: "a9_collectives/student/ring.cpp"; empty: the entry is not taken
  std::string why_not;  ///< "its path is absolute"; empty where it is taken, or passed over in silence
};

/// Looks at the path of an entry of an archive or folder as it stands there. "./", doubled slashes and Windows'
/// backslashes are cleaned away; hidden files, __MACOSX and build folders are passed over.
EntryPath clean_entry_path(const std::string& raw);

/// The name for a message: whatever is not printable ASCII is "?", and a long one is cut.
std::string printable_name(const std::string& raw);

}  // namespace lab
