#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace lab::grading {

/// What untrusted code may use. Seconds count only the time in which it was able to run (JobClock), so that a busy
/// machine fails no submission.
struct SandboxLimits {
  double run_seconds = 120;
  double stall_seconds = 120;               ///< the longest time in which `progress` does not change
  double cpu_seconds = 600;                 ///< of each process
  std::uint64_t memory_bytes = 3ull << 29;  ///< of each process
  std::uint64_t file_bytes = 256u << 20;    ///< of each file that it writes
  std::size_t output_bytes = 256u << 10;    ///< kept of stdout and of stderr; the rest is counted and dropped
  std::uint64_t dropped_bytes = 64u << 20;  ///< the job is stopped beyond this
};

/// What untrusted code is run with.
struct SandboxJob {
  std::vector<std::string> argv;
  std::string folder;                 ///< where it runs; it may write there, and in its /tmp
  std::vector<std::string> readable;  ///< files and folders in addition to the system's own
  std::vector<std::string> hidden;    ///< folders below those that must look empty
  std::vector<int> inherited;         ///< close-on-exec descriptors that it keeps, by the same numbers
  SandboxLimits limits;
  std::function<std::uint64_t()> progress;  ///< a number that changes while the work goes on; empty: only run_seconds
};

/// How it ended. What it printed is untrusted and proves nothing.
struct SandboxResult {
  enum class End {
    kExited,
    kSignalled,
    kOutOfTime,           ///< run_seconds
    kOutOfCpu,            ///< cpu_seconds
    kStalled,             ///< stall_seconds
    kPrintedTooMuch,      ///< dropped_bytes
    kKeptWaiting,         ///< the sandbox's own limit by the clock: the machine did not let it run
    kMachineOutOfMemory,  ///< it failed while the kernel killed processes because the machine's memory ran out
    kNotStarted           ///< the system refused a process, or bubblewrap its namespaces; `err` says why
  };
  End end = End::kExited;
  int exit_code = 0;  ///< 128 + signal where a signal ended it
  std::string out, err;
  std::uint64_t dropped_bytes = 0;  ///< printed beyond the limit
  double seconds = 0;               ///< by the clock
  double starved_seconds = 0;       ///< of these, how long it was kept from running
  double last_progress = 0;         ///< of these, how long before the end `progress` changed last

  /// Whether the machine is to blame, not the job.
  bool is_machines_fault() const {
    return end == End::kKeptWaiting || end == End::kMachineOutOfMemory || end == End::kNotStarted;
  }
  /// "exited with code 1", "timed out: no new result in 10 s".
  std::string ending() const;
};

/// The longest that a job may take by the clock: far more than one that runs at all can need.
constexpr double kMostWallSeconds = 1800;

/// Runs untrusted programs, under bubblewrap where it works: no network but its own loopback, no files but those named,
/// no sight of other processes. Elsewhere only with limits on time, memory and output.
/// Source    https://github.com/containers/bubblewrap; the only place that starts bwrap
class Sandbox {
 public:
  /// Tries bubblewrap out. If `wanted` is false, goes without it, as on a machine that does not have it.
  static Sandbox detect(bool wanted = true, double most_wall_seconds = kMostWallSeconds);

  bool isolates() const { return isolates_; }
  /// "bubblewrap: no network, no files but the lab's, ..." or "none but limits: bubblewrap is not installed".
  const std::string& level() const { return level_; }

  /// Call      from the main thread: blocking; no process of the job is left when it returns
  SandboxResult run(const SandboxJob& job) const;
  /// Runs jobs that work together, each in a sandbox of its own. The time limits and the progress of the first are those
  /// of all together: when they are exceeded, all jobs that still run end that way. `begun` is called once all of them
  /// are started, or one could not be.
  std::vector<SandboxResult> run_together(const std::vector<SandboxJob>& jobs,
                                          const std::function<void()>& begun = {}) const;
  /// The same, but runs the job once more if the machine is to blame for its end.
  /// Errors    NotJudged: the machine is to blame again
  SandboxResult run_or_give_up(const SandboxJob& job) const;

 private:
  bool isolates_ = false;
  std::string level_;
  double most_wall_seconds_ = kMostWallSeconds;
};

/// Because of the machine, not the submission, something could not be judged: twice it could not start, was killed for
/// lack of memory, or had no CPU to run on. What depends on it has no marks yet, not even 0.
class NotJudged : public std::runtime_error {
 public:
  explicit NotJudged(const std::string& reason) : std::runtime_error(reason) {}
};

}  // namespace lab::grading
