#include "grading/sandbox/supervise_jobs.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <optional>

#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "grading/sandbox/job_clock.h"

namespace lab::grading {
namespace {

using Clock = std::chrono::steady_clock;
using End = SandboxResult::End;

constexpr double kLookAtOneSeconds = 0.02;
constexpr double kSecondsToAnswer = 1;
constexpr double kLookSeconds = 0.2;  // between two looks at the job's threads: /proc counts in hundredths

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// How many processes the kernel has killed because the machine or a container ran out of memory; 0 where the kernel
/// does not count them.
std::uint64_t out_of_memory_kills() {
  std::ifstream vmstat("/proc/vmstat");
  std::string name;
  for (std::uint64_t count = 0; vmstat >> name >> count;)
    if (name == "oom_kill") return count;
  return 0;
}

/// Waits for jobs that run together.
class Supervisor {
 public:
  Supervisor(const std::vector<StartedJob>& jobs, const Supervision& supervision)
      : jobs_(jobs), supervision_(supervision) {
    progress_ = current_progress();
  }

  std::vector<SandboxResult> run() {
    std::optional<End> reached;
    // Wait until something happens, look what it was, and stop at the end of all ranks or at a limit.
    while (!reached) {
      const bool ended = wait();
      look(ended);
      if (ended) break;
      reached = limit_reached();
    }
    std::vector<SandboxResult> results(jobs_.size());
    std::vector<std::size_t> running;
    for (std::size_t i = 0; i < jobs_.size(); ++i)
      if (reached && jobs_[i].job && !jobs_[i].job->wait_for(0)) running.push_back(i);
    if (reached == End::kStalled) ask_where(running);
    for (const std::size_t i : running) {  // the end of one may be that of the others
      results[i].end = is_to_blame(*reached, i) ? *reached : End::kStoppedWithOthers;
      results[i].most_dropped = supervision_.limits.dropped_bytes;
      jobs_[i].job->kill();
    }
    for (std::size_t i = 0; i < jobs_.size(); ++i) describe(jobs_[i], results[i]);
    if (supervision_.budget != nullptr) supervision_.budget->spent += clock_.own_seconds();
    return results;
  }

 private:
  std::uint64_t current_progress() const { return supervision_.progress ? supervision_.progress() : 0; }

  /// Whether all have ended.
  bool wait() const {
    bool ended = true;
    for (const StartedJob& one : jobs_)
      if (one.job) ended = one.job->wait_for(kLookAtOneSeconds / static_cast<double>(jobs_.size())) && ended;
    return ended;
  }

  /// A rank that computes writes the line of student code that it is in on stderr (common/base/stack/student_place.h).
  void ask_where(const std::vector<std::size_t>& running) const {
    for (const std::size_t i : running)
      if (const pid_t pid = jobs_[i].job->pid(); pid > 0) ::kill(pid, SIGURG);
    const auto has_answered = [&](std::size_t i) {
      return jobs_[i].job->wait_for(0) || jobs_[i].job->err().find("error: rank ") != std::string::npos;
    };
    const Clock::time_point asked = Clock::now();
    // One answer is enough: the rank that says where it waits names the others that it waits for.
    while (seconds_since(asked) < kSecondsToAnswer && std::none_of(running.begin(), running.end(), has_answered))
      wait();
  }

  void look(bool ended) {
    const double now = seconds_since(start_);
    if (ended || now - looked_ >= kLookSeconds) {
      JobTree all;  // a process that is below several roots counts once
      shares_.assign(jobs_.size(), {});
      std::vector<pid_t> roots;
      for (const StartedJob& one : jobs_)
        if (!ended) roots.push_back(one.job ? one.job->pid() : -1);
      std::vector<JobTree> trees = trees_below(roots);
      for (std::size_t i = 0; i < trees.size(); ++i) {
        shares_[i] = {trees[i].threads.size(), trees[i].total_memory_bytes()};
        all.threads.merge(trees[i].threads);
        all.memory_bytes.merge(trees[i].memory_bytes);
      }
      clock_.look(now - looked_, all.threads);
      looked_ = now;
      num_threads_ = all.threads.size();
      memory_bytes_ = all.total_memory_bytes();
    }
    if (const std::uint64_t current = current_progress(); current != progress_) {
      progress_ = current;
      own_at_progress_ = clock_.own_seconds();
      progress_at_ = now;
    }
  }

  std::optional<End> limit_reached() const {
    const SandboxLimits& limits = supervision_.limits;
    const Budget* budget = supervision_.budget;
    for (const StartedJob& one : jobs_)
      if (one.job && one.job->dropped_bytes() > limits.dropped_bytes) return End::kPrintedTooMuch;
    if (num_threads_ > limits.threads) return End::kTooManyThreads;
    if (memory_bytes_ > limits.total_memory_bytes) return End::kOutOfMemory;
    if (clock_.own_seconds() > limits.run_seconds) return End::kOutOfTime;
    if (budget != nullptr && clock_.own_seconds() > budget->left()) return End::kBudgetSpent;
    if (supervision_.progress && clock_.own_seconds() - own_at_progress_ > limits.stall_seconds) return End::kStalled;
    if (seconds_since(start_) > supervision_.most_wall_seconds) return End::kKeptWaiting;
    return std::nullopt;
  }

  /// Whether this job is among those that made the limit be reached. Where all do the same, it is chance which of them is
  /// ahead: so whichever has at least half as many threads or as much memory, or has printed an eighth of the limit.
  bool is_to_blame(End reached, std::size_t job) const {
    const auto is_far = [&](auto Share::*of) {
      return std::all_of(shares_.begin(), shares_.end(),
                         [&](const Share& other) { return 2 * (shares_[job].*of) >= other.*of; });
    };
    switch (reached) {
      case End::kPrintedTooMuch: return 8 * jobs_[job].job->dropped_bytes() > supervision_.limits.dropped_bytes;
      case End::kTooManyThreads: return is_far(&Share::threads);
      case End::kOutOfMemory: return is_far(&Share::memory_bytes);
      default: return true;
    }
  }

  void describe(const StartedJob& one, SandboxResult& result) const {
    result.seconds = seconds_since(start_);
    result.starved_seconds = clock_.starved_seconds();
    result.last_progress = result.seconds - progress_at_;
    if (!one.job) {
      result.end = End::kNotStarted;
      result.err = one.refused;
      return;
    }
    const bool isolates = supervision_.under_bubblewrap;
    one.job->wait_for(0);  // reads what it wrote
    result.exit_code = exit_code_of_status(one.job->status());
    result.out = one.job->out();
    result.err = one.job->err();
    result.dropped_bytes = one.job->dropped_bytes();
    if (result.end != End::kExited) return;
    if (result.exit_code != 0 && out_of_memory_kills() > kills_before_) {
      result.end = End::kMachineOutOfMemory;
    } else if (result.exit_code == 128 + SIGXCPU) {
      result.end = End::kOutOfCpu;  // also where bubblewrap passes it on as its own exit code
    } else if (WIFSIGNALED(one.job->status()) || (isolates && result.exit_code > 128)) {  // as bubblewrap passes it on
      result.end = End::kSignalled;
    } else if (isolates && result.exit_code != 0 && progress_ == 0 && result.err.rfind("bwrap: ", 0) == 0) {
      result.end = End::kNotStarted;
    }
  }

  /// What one job had when it was last looked at.
  struct Share {
    std::size_t threads = 0;
    std::uint64_t memory_bytes = 0;
  };

  const std::vector<StartedJob>& jobs_;
  const Supervision& supervision_;
  const Clock::time_point start_ = Clock::now();
  const std::uint64_t kills_before_ = out_of_memory_kills();
  JobClock clock_;
  double looked_ = 0, own_at_progress_ = 0, progress_at_ = 0;
  std::uint64_t progress_ = 0, memory_bytes_ = 0;
  std::size_t num_threads_ = 0;
  std::vector<Share> shares_;
};

}  // namespace

std::string SandboxResult::ending() const {
  switch (end) {
    case End::kOutOfTime: return fmt::format("timed out after {:.0f} s", seconds - starved_seconds);
    case End::kOutOfCpu: return "used more CPU time than it may";
    case End::kStalled: return fmt::format("timed out: no new result in {:.0f} s", last_progress);
    case End::kPrintedTooMuch: return fmt::format("was stopped after printing more than {} MiB", most_dropped >> 20);
    case End::kTooManyThreads: return "was stopped: too many processes and threads";
    case End::kOutOfMemory: return "was stopped: it used more memory than it may";
    case End::kBudgetSpent: return "was stopped: the submission has used up its time";
    case End::kStoppedWithOthers: return "was stopped with the others";
    case End::kSignalled: return fmt::format("was killed by signal {}", exit_code - 128);
    case End::kKeptWaiting:
      return fmt::format("was kept waiting for a CPU for {:.0f} of {:.0f} s", starved_seconds, seconds);
    case End::kMachineOutOfMemory: return "failed when the machine's memory ran out and the kernel killed processes";
    case End::kNotStarted: return "could not be started: " + one_line(err);
    case End::kExited: break;
  }
  return fmt::format("exited with code {}", exit_code);
}

std::vector<SandboxResult> supervise_jobs(const std::vector<StartedJob>& jobs, const Supervision& supervision) {
  return Supervisor(jobs, supervision).run();
}

}  // namespace lab::grading
