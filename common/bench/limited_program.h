#pragma once

#include <string>
#include <vector>

namespace lab {

/// How a program that was run for its effect ended.
struct ProgramEnd {
  int exit_code = 0;  ///< 128 + signal where a signal ended it
  bool timed_out = false;
  std::string last_words;  ///< its stderr on one line, without rulers, truncated

  bool well() const { return exit_code == 0 && !timed_out; }
  /// "ended with exit code 1: <last words>"
  std::string message() const;
};

/// Runs a program, looked up in PATH, discarding its stdout. After limit_seconds it is asked to end (SIGTERM, so that a
/// launcher can end what it started) and five seconds later its process group is killed.
/// Errors    UsageError: it cannot be started
ProgramEnd run_limited(const std::vector<std::string>& argv, double limit_seconds);

}  // namespace lab
