#pragma once

#include <string>
#include <vector>

namespace lab::grading {

/// A hand-in that attacks the grading.
struct HostileEntry {
  std::string name;               ///< "fork_bomb": its files are in fork_bomb/student
  std::string task;               ///< that it pretends to solve: "a9.broadcast"
  std::string lab;                ///< short name of the task's lab: "a9"
  std::string what;               ///< one line
  std::string archive;            ///< it has no files, but is an archive that hostile_archives.h makes; empty: files
  double marks = 0;               ///< that it may earn all the same, all of them for its task
  std::vector<std::string> says;  ///< the report must contain one of these; empty: whatever it says
  std::string at_limits;    ///< what it may be able to do where bubblewrap does not work; empty: no more than elsewhere
  double most_seconds = 0;  ///< the grading has ended by then
  bool quick = false;       ///< run in CI, too
};

/// Reads hostile.toml. Every folder must be listed, and whatever is listed must exist. `tasks`: the ids of all labs'
/// tasks.
/// Errors    UsageError: what is wrong, and where
std::vector<HostileEntry> load_hostile(const std::string& folder, const std::vector<std::string>& tasks);

}  // namespace lab::grading
