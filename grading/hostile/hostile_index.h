#pragma once

#include <string>
#include <vector>

namespace lab::grading {

/// A hand-in that attacks the grading.
struct HostileEntry {
  std::string name;               ///< "fork_bomb"
  std::string task;               ///< that it pretends to solve: "a9.broadcast"
  std::string lab;                ///< short name of the task's lab: "a9"
  std::string what;               ///< one line
  std::string archive;            ///< that write_hostile_archive() makes; empty: it is a file
  std::string file;               ///< "student/single_step.cpp"
  std::string code;               ///< the file's, before HostilePlace::filled_in()
  double marks = 0;               ///< that it may earn all the same, all of them for its task
  std::vector<std::string> says;  ///< the report must contain one of these; empty: whatever it says
  std::string at_limits;    ///< what it may be able to do where bubblewrap does not work; empty: no more than elsewhere
  double most_seconds = 0;  ///< the grading has ended by then
  bool nightly = false;     ///< takes long
};

/// Reads hostile.toml at this path. `tasks`: the ids of all labs' tasks. The corpus' own way into the kernel stands for
/// @SYSTEM_CALL@ in the entries' code.
/// Errors    UsageError: what is wrong, and where
std::vector<HostileEntry> load_hostile(const std::string& path, const std::vector<std::string>& tasks);

}  // namespace lab::grading
