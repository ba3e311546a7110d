#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/base/subprocess.h"
#include "grading/sandbox/supervise_jobs.h"

namespace lab::grading {

/// What untrusted code is run with.
struct SandboxJob {
  std::vector<std::string> argv;
  int program = -1;    ///< an open file, at its beginning, run in place of argv[0]; negative: argv[0]
  std::string folder;  ///< where it runs; it may write there, and in its /tmp. Empty: /, nothing to write
  std::vector<std::string> readable;  ///< files and folders in addition to the system's own
  std::vector<std::string> hidden;    ///< folders and files below those, which must look empty
  std::vector<int> inherited;         ///< close-on-exec descriptors that it keeps, by the same numbers
  bool is_student_code = false;       ///< started by root, it runs as a user without rights
  SandboxLimits limits;
  std::function<std::uint64_t()> progress;  ///< a number that changes while the work goes on; empty: only run_seconds
};

/// The longest that a job may take by the clock: far more than one that runs at all can need.
constexpr double kMostWallSeconds = 1800;

/// Runs untrusted programs, under bubblewrap where it works: no network but its own loopback, no files but those named,
/// no sight of other processes, no system calls that tools do not need. Elsewhere only with limits on time, memory,
/// threads and output.
/// Source    https://github.com/containers/bubblewrap; the only place that starts bwrap
class Sandbox {
 public:
  /// What stands around a job.
  enum class Wall {
    kLimits,      ///< no bubblewrap
    kBubblewrap,  ///< run by who runs the job: started by root, student code's is run as a user without rights
    /// As root, for student code too, which becomes such a user inside: where only root may create namespaces, or enter
    /// the folder that a place to read is in.
    kRootsBubblewrap
  };

  /// Tries bubblewrap out. If `wanted` is false, goes without it, as on a machine that does not have it.
  static Sandbox detect(bool wanted = true, double most_wall_seconds = kMostWallSeconds);

  /// The same sandbox, whose jobs may also read these files and folders, where there are such. They may be in a folder
  /// that only root can enter, such as its home.
  Sandbox also_reading(std::vector<std::string> places) const;
  /// The same sandbox for one submission, whose jobs may take this long together.
  Sandbox within(double budget_seconds) const;
  /// Whether the submission's time is used up.
  bool is_spent() const { return budget_ && budget_->left() == 0; }

  bool isolates() const { return wall_ != Wall::kLimits; }
  /// "bubblewrap: no network, no files but the lab's, ..." or "none but limits: bubblewrap is not installed".
  const std::string& level() const { return level_; }

  /// Call      from the main thread: blocking; no process of the job is left when it returns
  SandboxResult run(const SandboxJob& job) const;
  /// The same, but runs the job once more if the machine is to blame for its end.
  /// Errors    NotJudged: the machine is to blame again
  SandboxResult run_or_give_up(const SandboxJob& job) const;
  /// Starts a program that stays: it has the job's limits for each of its processes, and nobody watches it.
  /// Errors    UsageError: the system refuses a process
  std::unique_ptr<Subprocess> start(const SandboxJob& job) const;
  /// Waits for jobs that work together.
  std::vector<SandboxResult> supervise(const std::vector<StartedJob>& jobs, const SandboxLimits& limits,
                                       const std::function<std::uint64_t()>& progress) const;

 private:
  Wall wall_ = Wall::kLimits;
  std::string level_;
  double most_wall_seconds_ = kMostWallSeconds;
  std::vector<std::string> readable_;
  std::shared_ptr<Budget> budget_;
};

/// Because of the machine, not the submission, something could not be judged: twice it could not start, was killed for
/// lack of memory, or had no CPU to run on. What depends on it has no marks yet, not even 0.
class NotJudged : public std::runtime_error {
 public:
  explicit NotJudged(const std::string& reason) : std::runtime_error(reason) {}
};

}  // namespace lab::grading
