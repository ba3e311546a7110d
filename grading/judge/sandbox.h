#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lab::grading {

/// What untrusted code may take.
struct SandboxLimits {
  double wall_seconds = 120;
  double stall_seconds = 120;               ///< the longest time in which `progress` does not change
  std::uint64_t memory_bytes = 3ull << 29;  ///< of each process
  std::uint64_t file_bytes = 256u << 20;    ///< of each file that it writes
  std::size_t output_bytes = 256u << 10;    ///< kept of stdout and of stderr; the rest is counted and dropped
  std::uint64_t dropped_bytes = 64u << 20;  ///< more than this is the end
};

/// What untrusted code is run with.
struct SandboxJob {
  std::vector<std::string> argv;
  std::string folder;                 ///< where it runs; it may write there, and in its /tmp
  std::vector<std::string> readable;  ///< files and folders besides the system's own
  std::vector<std::string> hidden;    ///< folders below those that must look empty
  SandboxLimits limits;
  std::function<std::uint64_t()> progress;  ///< a number that changes while the work goes on; empty: only wall_seconds
};

/// How it ended. What it printed is its own words and proves nothing.
struct SandboxResult {
  enum class End { kExited, kSignalled, kOutOfTime, kStalled, kPrintedTooMuch };
  End end = End::kExited;
  int exit_code = 0;  ///< 128 + signal where a signal ended it
  std::string out, err;
  std::uint64_t dropped_bytes = 0;  ///< printed beyond the limit
  double seconds = 0;

  /// "exited with code 1", "was ended after 10 s without a new result".
  std::string words() const;
};

/// Runs programs that nobody has to trust, under bubblewrap where it works: no network but its own loopback, no files
/// but those named, no sight of other processes. Elsewhere only with limits on time, memory and output.
/// Source    https://github.com/containers/bubblewrap; the only place that starts bwrap
class Sandbox {
 public:
  /// Tries bubblewrap out. `wanted` false: without it, as on a machine that has none.
  static Sandbox detect(bool wanted = true);

  bool isolates() const { return isolates_; }
  /// "bubblewrap: no network, no files but the lab's, ..." or "none but limits: bubblewrap is not installed".
  const std::string& level() const { return level_; }

  /// Descriptors that are not close-on-exec are the job's, too.
  /// Call      from the main thread: blocking; no process of the job is left when it returns
  /// Errors    UsageError: the system refuses another process
  SandboxResult run(const SandboxJob& job) const;

 private:
  bool isolates_ = false;
  std::string level_;
};

}  // namespace lab::grading
