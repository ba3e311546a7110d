#include "grading/judge/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/launch/supervise/orphans.h"
#include "common/launch/supervise/spawn.h"
#include "grading/judge/job_clock.h"

namespace lab::grading {
namespace {

using Clock = std::chrono::steady_clock;

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

/// Our end of a pipe from the job: output is kept up to a limit.
class Output {
 public:
  explicit Output(std::size_t limit) : limit_(limit) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) throw UsageError("cannot make a pipe for a submission's output");
    read_end_ = UniqueFd(ends[0]);
    write_end_ = UniqueFd(ends[1]);
    // Only our end is non-blocking: the job writes as to any pipe.
    ::fcntl(ends[1], F_SETFL, ::fcntl(ends[1], F_GETFL) & ~O_NONBLOCK);
  }
  int write_fd() const { return write_end_.get(); }
  int read_fd() const { return read_end_.get(); }
  void close_write_end() { write_end_.reset(); }
  bool is_open() const { return read_end_.get() >= 0; }
  const std::string& text() const { return text_; }
  std::uint64_t dropped() const { return dropped_; }

  /// Reads what is available, but not forever: a job that prints endlessly must not keep us from the clock.
  void read() {
    std::array<char, 1 << 16> buffer{};
    for (int turn = 0; turn < 16; ++turn) {
      const ssize_t count = ::read(read_end_.get(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return;
      if (count == 0) {
        read_end_.reset();
        return;
      }
      const std::size_t kept = std::min(static_cast<std::size_t>(count), limit_ - text_.size());
      text_.append(buffer.data(), kept);
      dropped_ += static_cast<std::uint64_t>(count) - kept;
    }
  }

 private:
  std::size_t limit_;
  UniqueFd read_end_, write_end_;
  std::string text_;
  std::uint64_t dropped_ = 0;
};

void wait_for_output(Output& out, Output& err, int milliseconds) {
  std::array<pollfd, 2> waits{};
  nfds_t count = 0;
  for (Output* output : {&out, &err}) {
    if (output->is_open()) waits[count++] = {output->read_fd(), POLLIN, 0};
  }
  ::poll(waits.data(), count, milliseconds);
  if (out.is_open()) out.read();
  if (err.is_open()) err.read();
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
  static const std::vector<std::string> words = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8",
                                                 "TMPDIR=/tmp"};
  return words;
}

void add(std::vector<std::string>& argv, std::initializer_list<std::string> words) {
  argv.insert(argv.end(), words);
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
  SandboxJob job;
  job.folder = "/tmp";
  job.argv = {"true"};
  SpawnOptions quiet;
  Output output(1 << 12);
  quiet.stdout_fd = quiet.stderr_fd = output.write_fd();
  pid_t pid = 0;
  try {
    pid = exec_rank({"bwrap", "--version"}, {}, quiet);
  } catch (const UsageError&) {
    return "bubblewrap is not installed";
  }
  ::waitpid(pid, nullptr, 0);
  pid = exec_rank(command_line(job, true), {}, quiet);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status == 0 ? "" : "bubblewrap cannot create namespaces here";
}

}  // namespace

std::string SandboxResult::words() const {
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
  using End = SandboxResult::End;
  const auto start = Clock::now();
  const std::uint64_t kills_before = out_of_memory_kills();
  Orphans orphans;  // outside of bubblewrap, a process that the job leaves behind becomes ours
  Output out(job.limits.output_bytes), err(job.limits.output_bytes);
  SpawnOptions options;
  options.stdout_fd = out.write_fd();
  options.stderr_fd = err.write_fd();
  SandboxResult result;
  pid_t pid = 0;
  try {
    pid = exec_rank(command_line(job, isolates_), {}, options);
  } catch (const UsageError& refused) {
    result.end = End::kNotStarted;
    result.err = refused.what();
    return result;
  }
  out.close_write_end();
  err.close_write_end();

  int status = 0;
  std::uint64_t progress = job.progress ? job.progress() : 0;
  JobClock clock;
  double looked = 0, own_at_progress = 0, progress_at = 0;
  for (bool ended = false; !ended;) {
    wait_for_output(out, err, 20);
    ended = ::waitpid(pid, &status, WNOHANG) == pid;
    const double now = seconds_since(start);
    if (ended || now - looked >= kLookSeconds) {
      clock.look(now - looked, ended ? std::map<pid_t, ThreadState>() : threads_below(pid));
      looked = now;
    }
    if (job.progress && job.progress() != progress) {
      progress = job.progress();
      own_at_progress = clock.own_seconds();
      progress_at = now;
    }
    if (ended) break;
    if (out.dropped() + err.dropped() > job.limits.dropped_bytes) {
      result.end = End::kPrintedTooMuch;
    } else if (clock.own_seconds() > job.limits.run_seconds) {
      result.end = End::kOutOfTime;
    } else if (job.progress && clock.own_seconds() - own_at_progress > job.limits.stall_seconds) {
      result.end = End::kStalled;
    } else if (now > most_wall_seconds_) {
      result.end = End::kKeptWaiting;
    } else {
      continue;
    }
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, &status, 0);
    ended = true;
  }
  orphans.kill_all();
  wait_for_output(out, err, 0);
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.out = out.text();
  result.err = err.text();
  result.dropped_bytes = out.dropped() + err.dropped();
  result.seconds = seconds_since(start);
  result.starved_seconds = clock.starved_seconds();
  result.last_progress = result.seconds - progress_at;
  if (result.end != End::kExited) return result;
  if (result.exit_code != 0 && out_of_memory_kills() > kills_before) {
    result.end = End::kMachineOutOfMemory;
  } else if (result.exit_code == 128 + SIGXCPU) {
    result.end = End::kOutOfCpu;  // also where bubblewrap passes it on as its own exit code
  } else if (WIFSIGNALED(status)) {
    result.end = End::kSignalled;
  } else if (isolates_ && result.exit_code != 0 && progress == 0 && result.err.rfind("bwrap: ", 0) == 0) {
    result.end = End::kNotStarted;
  }
  return result;
}

SandboxResult Sandbox::run_or_give_up(const SandboxJob& job) const {
  SandboxResult result = run(job);
  if (result.is_machines_fault()) result = run(job);
  if (result.is_machines_fault()) throw NotJudged(fmt::format("{}, twice", result.words()));
  return result;
}

}  // namespace lab::grading
