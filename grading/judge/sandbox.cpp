#include "grading/judge/sandbox.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include "common/base/errors.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/launch/supervise/orphans.h"
#include "grading/judge/job_clock.h"

namespace lab::grading {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLookAtOneSeconds = 0.02;
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

// Limits that the kernel enforces for each process, by the program of the same name (util-linux).
std::vector<std::string> limited(const SandboxLimits& limits) {
  const auto cpu = static_cast<std::uint64_t>(std::ceil(limits.cpu_seconds));
  return {"prlimit",
          fmt::format("--data={}", limits.memory_bytes),
          fmt::format("--fsize={}", limits.file_bytes),
          fmt::format("--cpu={}:{}", cpu, cpu + 5),  // SIGXCPU, then SIGKILL if that is ignored
          "--core=0",
          "--"};
}

// The environment of a job. Our own variables, such as tokens, are not passed on.
const std::vector<std::string>& environment() {
  static const std::vector<std::string> variables = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8",
                                                     "TMPDIR=/tmp"};
  return variables;
}

void add(std::vector<std::string>& argv, std::initializer_list<std::string> arguments) {
  argv.insert(argv.end(), arguments);
}

std::vector<std::string> bubblewrap(const SandboxJob& job) {
  std::vector<std::string> argv = {
      "bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"};
  for (const std::string& word : environment()) {
    const std::size_t equals = word.find('=');
    add(argv, {"--setenv", word.substr(0, equals), word.substr(equals + 1)});
  }
  add(argv, {"--ro-bind", "/usr", "/usr", "--ro-bind-try", "/opt", "/opt"});
  for (const char* folder : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    if (std::filesystem::is_symlink(folder)) {
      add(argv, {"--symlink", std::filesystem::read_symlink(folder).string(), folder});
    } else {
      add(argv, {"--ro-bind-try", folder, folder});
    }
  }
  for (const char* path : {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"})
    add(argv, {"--ro-bind-try", path, path});
  add(argv, {"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"});
  for (const std::string& path : job.readable) add(argv, {"--ro-bind", path, path});
  for (const std::string& path : job.hidden) add(argv, {"--tmpfs", path, "--remount-ro", path});
  add(argv, {"--bind", job.folder, job.folder, "--chdir", job.folder, "--"});
  return argv;
}

std::vector<std::string> command_line(const SandboxJob& job, bool isolated) {
  std::vector<std::string> argv = limited(job.limits);
  if (isolated) {
    const std::vector<std::string> wrap = bubblewrap(job);
    argv.insert(argv.end(), wrap.begin(), wrap.end());
  } else {
    add(argv, {"env", "-i", "-C", job.folder});
    argv.insert(argv.end(), environment().begin(), environment().end());
  }
  argv.insert(argv.end(), job.argv.begin(), job.argv.end());
  return argv;
}

/// Why bubblewrap cannot be used; empty if it can.
std::string bubblewrap_is_missing() {
  if (!is_in_path("bwrap")) return "bubblewrap is not installed";
  SandboxJob job;
  job.folder = "/tmp";
  job.argv = {"true"};
  ProcessSpec trial;
  trial.argv = command_line(job, true);
  return run_program(trial).well() ? "" : "bubblewrap cannot create namespaces here";
}

}  // namespace

std::string SandboxResult::ending() const {
  switch (end) {
    case End::kOutOfTime: return fmt::format("timed out after {:.0f} s", seconds - starved_seconds);
    case End::kOutOfCpu: return "used more CPU time than it may";
    case End::kStalled: return fmt::format("timed out: no new result in {:.0f} s", last_progress);
    case End::kPrintedTooMuch: return fmt::format("was stopped after printing {} MiB", dropped_bytes >> 20);
    case End::kSignalled: return fmt::format("was killed by signal {}", exit_code - 128);
    case End::kKeptWaiting:
      return fmt::format("was kept waiting for a CPU for {:.0f} of {:.0f} s", starved_seconds, seconds);
    case End::kMachineOutOfMemory: return "failed when the machine's memory ran out and the kernel killed processes";
    case End::kNotStarted: return "could not be started: " + one_line(err);
    case End::kExited: break;
  }
  return fmt::format("exited with code {}", exit_code);
}

Sandbox Sandbox::detect(bool wanted, double most_wall_seconds) {
  Sandbox sandbox;
  sandbox.most_wall_seconds_ = most_wall_seconds;
  const std::string reason = wanted ? bubblewrap_is_missing() : "bubblewrap was turned off";
  sandbox.isolates_ = reason.empty();
  sandbox.level_ = reason.empty()
                       ? "bubblewrap: no network, no other processes, no files but the lab's; limits on time, memory "
                         "and output"
                       : fmt::format("limits on time, memory and output only: {}", reason);
  return sandbox;
}

SandboxResult Sandbox::run(const SandboxJob& job) const {
  return run_together({job}).front();
}

std::vector<SandboxResult> Sandbox::run_together(const std::vector<SandboxJob>& jobs,
                                                 const std::function<void()>& begun) const {
  using End = SandboxResult::End;
  const auto start = Clock::now();
  const std::uint64_t kills_before = out_of_memory_kills();
  launch::Orphans orphans;  // outside of bubblewrap, a process that a job leaves behind becomes ours
  std::vector<SandboxResult> results(jobs.size());
  std::vector<std::unique_ptr<Subprocess>> processes(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    ProcessSpec command;
    command.argv = command_line(jobs[i], isolates_);
    command.inherited = jobs[i].inherited;
    command.max_output_bytes = jobs[i].limits.output_bytes;
    try {
      processes[i] = std::make_unique<Subprocess>(command);
    } catch (const UsageError& refused) {
      results[i].end = End::kNotStarted;
      results[i].err = refused.what();
    }
  }
  if (begun) begun();

  const SandboxLimits& limits = jobs.front().limits;
  const auto& progress_now = jobs.front().progress;
  std::uint64_t progress = progress_now ? progress_now() : 0;
  JobClock clock;
  double looked = 0, own_at_progress = 0, progress_at = 0;
  const auto limit_reached = [&](double now) -> std::optional<End> {
    for (const auto& process : processes)
      if (process && process->dropped_bytes() > limits.dropped_bytes) return End::kPrintedTooMuch;
    if (clock.own_seconds() > limits.run_seconds) return End::kOutOfTime;
    if (progress_now && clock.own_seconds() - own_at_progress > limits.stall_seconds) return End::kStalled;
    if (now > most_wall_seconds_) return End::kKeptWaiting;
    return std::nullopt;
  };
  for (;;) {
    bool ended = true;
    for (const auto& process : processes)
      if (process) ended = process->wait_for(kLookAtOneSeconds / static_cast<double>(jobs.size())) && ended;
    const double now = seconds_since(start);
    if (ended || now - looked >= kLookSeconds) {
      std::map<pid_t, ThreadState> threads;
      for (const auto& process : processes)
        if (process && !ended) threads.merge(threads_below(process->pid()));
      clock.look(now - looked, threads);
      looked = now;
    }
    if (progress_now && progress_now() != progress) {
      progress = progress_now();
      own_at_progress = clock.own_seconds();
      progress_at = now;
    }
    if (ended) break;
    const std::optional<End> reached = limit_reached(now);
    if (!reached) continue;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (!processes[i] || processes[i]->wait_for(0)) continue;
      results[i].end = *reached;
      processes[i]->kill();
    }
    break;
  }
  orphans.kill_all();

  for (std::size_t i = 0; i < jobs.size(); ++i) {
    SandboxResult& result = results[i];
    result.seconds = seconds_since(start);
    result.starved_seconds = clock.starved_seconds();
    result.last_progress = result.seconds - progress_at;
    if (!processes[i]) continue;
    Subprocess& process = *processes[i];
    process.wait_for(0);  // reads what they wrote
    result.exit_code = exit_code_of_status(process.status());
    result.out = process.out();
    result.err = process.err();
    result.dropped_bytes = process.dropped_bytes();
    if (result.end != End::kExited) continue;
    if (result.exit_code != 0 && out_of_memory_kills() > kills_before) {
      result.end = End::kMachineOutOfMemory;
    } else if (result.exit_code == 128 + SIGXCPU) {
      result.end = End::kOutOfCpu;  // also where bubblewrap passes it on as its own exit code
    } else if (WIFSIGNALED(process.status()) || (isolates_ && result.exit_code > 128)) {  // as bubblewrap passes it on
      result.end = End::kSignalled;
    } else if (isolates_ && result.exit_code != 0 && progress == 0 && result.err.rfind("bwrap: ", 0) == 0) {
      result.end = End::kNotStarted;
    }
  }
  return results;
}

SandboxResult Sandbox::run_or_give_up(const SandboxJob& job) const {
  SandboxResult result = run(job);
  if (result.is_machines_fault()) result = run(job);
  if (result.is_machines_fault()) throw NotJudged(fmt::format("{}, twice", result.ending()));
  return result;
}

}  // namespace lab::grading
