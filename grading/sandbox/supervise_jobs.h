#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
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
  // Of all jobs that run together, with every process below them; seen from outside, five times a second:
  std::size_t threads = 1024;
  std::uint64_t total_memory_bytes = 6ull << 30;  ///< of their own: not what they share with files
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
    kTooManyThreads,      ///< threads
    kOutOfMemory,         ///< total_memory_bytes
    kBudgetSpent,         ///< of the whole submission
    kStoppedWithOthers,   ///< one that ran together with it was stopped for what that one had printed or used
    kKeptWaiting,         ///< the sandbox's own limit by the clock: the machine did not let it run
    kMachineOutOfMemory,  ///< it failed while the kernel killed processes because the machine's memory ran out
    kNotStarted           ///< the system refused a process, or bubblewrap its namespaces; `err` says why
  };
  End end = End::kExited;
  int exit_code = 0;  ///< 128 + signal where a signal ended it
  std::string out, err;
  std::uint64_t dropped_bytes = 0;  ///< printed beyond the limit
  std::uint64_t most_dropped = 0;   ///< if it was stopped for that: what it might have
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

/// The time that one submission may take for everything that is run for it, by JobClock.
struct Budget {
  double seconds = 0;
  double spent = 0;

  double left() const { return seconds > spent ? seconds - spent : 0; }
};

/// An untrusted program that was started.
class RunningJob {
 public:
  virtual ~RunningJob() = default;
  /// The process that it and all that it starts descend from.
  virtual pid_t pid() const = 0;
  /// Reads its output. True as soon as it has ended; false after the given time.
  virtual bool wait_for(double seconds) = 0;
  virtual void kill() = 0;
  virtual int status() const = 0;  ///< as from waitpid(), once it has ended
  virtual std::string out() const = 0;
  virtual std::string err() const = 0;
  virtual std::uint64_t dropped_bytes() const = 0;
};

/// One that was started, or the reason why it could not be.
struct StartedJob {
  std::unique_ptr<RunningJob> job;
  std::string refused;
};

/// What jobs that run together may do.
struct Supervision {
  SandboxLimits limits;
  std::function<std::uint64_t()> progress;  ///< a number that changes while the work goes on; empty: only run_seconds
  double most_wall_seconds = 0;
  bool under_bubblewrap = false;  ///< whose own exit code and messages stand for the job's
  Budget* budget = nullptr;       ///< what they use is taken from it; null: none
};

/// Waits for all jobs, and ends all that still run when a limit is exceeded. One result for each, in order.
std::vector<SandboxResult> supervise_jobs(const std::vector<StartedJob>& jobs, const Supervision& supervision);

}  // namespace lab::grading
