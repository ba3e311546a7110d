#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/json.h"

namespace lab::grading {

/// What came of an item that tests the judge: a mutant, or a hostile hand-in.
struct Verdict {
  bool as_required = false;
  std::string complaint;     ///< what is not as required
  std::string found;         ///< what the report says of its task: the first check that failed, and why
  std::string symptom = {};  ///< its id
  std::string level = {};    ///< how far it was isolated
  double seconds = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Verdict, as_required, complaint, found, symptom, level, seconds)

/// A line or more on the terminal.
void print_row(const Verdict& verdict, const std::string& name, const std::string& what);

/// Work that is done item by item, each in a process of its own: this program with other arguments.
struct OwnProcesses {
  std::size_t count = 0;
  int jobs = 1;  ///< at a time
  /// What the program is started with for an item, besides --result FILE, where it leaves its verdict as JSON.
  std::function<std::vector<std::string>(std::size_t item)> arguments;
  /// Called when the process of an item has ended. If it failed, it has said why, and the verdict has a complaint.
  std::function<void(std::size_t item, const Verdict& verdict)> ended;
};

/// Does all items, and calls `ended` in the order in which they end.
/// Call      from the main thread, blocking
/// Errors    UsageError: a process cannot be started
void run_in_own_processes(const OwnProcesses& work);

/// How the process of an item has ended, and what it has written.
struct ForkedEnd {
  int exit_code = 0;
  std::string out, err;
};

/// Work that is done item by item, each in a process forked from this one.
struct ForkedWork {
  std::size_t count = 0;
  int jobs = 1;                                                       ///< at a time
  std::function<int(std::size_t item)> body;                          ///< returns the exit code
  std::function<void(std::size_t item, const ForkedEnd& end)> ended;  ///< called here, in the order in which they end
  /// Called here, again and again, for each item at work: whether its process is to be killed.
  std::function<bool(std::size_t item)> is_lost = {};
  std::size_t max_output_bytes = 256u << 20;  ///< kept of each stream of an item
};

/// Does all items, the last ones first, or stops at a signal that would end this process: then those that are at work
/// are asked to end (SIGTERM), and killed after five seconds. With an item's process ends what is left of its group.
/// Returns   that signal; nothing: all is done
/// Call      from the main thread, blocking, before any work with tensors
/// Errors    UsageError: a process or a file cannot be created
std::optional<int> run_forked(const ForkedWork& work);

}  // namespace lab::grading
