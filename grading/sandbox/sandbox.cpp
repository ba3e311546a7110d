#include "grading/sandbox/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "common/api/errors.h"
#include "common/base/subprocess.h"
#include "common/launch/supervise/orphans.h"
#include "grading/sandbox/syscall_filter.h"

namespace lab::grading {
namespace {

constexpr const char* kNobody = "65534";  // of Debian: user nobody, group nogroup

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
  // The ranks of a world share the cores: a pool of threads in each would only slow them down.
  static const std::vector<std::string> variables = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                                     "HOME=/tmp",
                                                     "LANG=C.UTF-8",
                                                     "TMPDIR=/tmp",
                                                     "OPENBLAS_NUM_THREADS=1",
                                                     "OMP_NUM_THREADS=1"};
  return variables;
}

void add(std::vector<std::string>& argv, std::initializer_list<std::string> arguments) {
  argv.insert(argv.end(), arguments);
}

/// Becomes a user without rights, and then the job.
void add_nobody(std::vector<std::string>& argv) {
  add(argv, {"setpriv", "--reuid", kNobody, "--regid", kNobody, "--clear-groups", "--pdeathsig", "KILL", "--"});
}

std::vector<std::string> bubblewrap(const SandboxJob& job, bool nobody_inside, int filter) {
  std::vector<std::string> argv = {"bwrap", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"};
  if (nobody_inside) {
    // Without a user namespace of its own, in which there would be only one user to become.
    add(argv, {"--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"});
    add(argv, {"--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"});
  } else {
    add(argv, {"--unshare-all"});
  }
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
  add(argv, {"--perms", "0755", "--dir", "/etc"});
  for (const char* path : {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"})
    add(argv, {"--ro-bind-try", path, path});
  add(argv, {"--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp"});
  for (const std::string& path : job.readable) {
    // Otherwise bubblewrap makes the folders around it, which only who runs bubblewrap can enter.
    add(argv, {"--perms", "0755", "--dir", std::filesystem::path(path).parent_path().string()});
    add(argv, {"--ro-bind", path, path});
  }
  for (const std::string& path : job.hidden) {
    if (std::filesystem::is_directory(path)) {
      add(argv, {"--tmpfs", path, "--remount-ro", path});
    } else {
      add(argv, {"--ro-bind", "/dev/null", path});
    }
  }
  if (!job.folder.empty()) add(argv, {"--bind", job.folder, job.folder});
  if (job.program >= 0) add(argv, {"--perms", "0555", "--ro-bind-data", std::to_string(job.program), "/program"});
  add(argv, {"--chdir", job.folder.empty() ? "/" : job.folder, "--seccomp", std::to_string(filter), "--"});
  if (nobody_inside) add_nobody(argv);
  return argv;
}

std::vector<std::string> command_line(const SandboxJob& job, Sandbox::Wall wall, int filter) {
  std::vector<std::string> argv = limited(job.limits);
  const bool as_nobody = job.is_student_code && ::geteuid() == 0;
  const bool isolated = wall != Sandbox::Wall::kLimits, inside = wall == Sandbox::Wall::kRootsBubblewrap;
  if (as_nobody && !inside) add_nobody(argv);
  if (isolated) {
    const std::vector<std::string> wrap = bubblewrap(job, as_nobody && inside, filter);
    argv.insert(argv.end(), wrap.begin(), wrap.end());
  } else {
    add(argv, {"env", "-i", "-C", job.folder.empty() ? "/" : job.folder});
    argv.insert(argv.end(), environment().begin(), environment().end());
  }
  argv.insert(argv.end(), job.argv.begin(), job.argv.end());
  if (job.program >= 0)
    argv[argv.size() - job.argv.size()] = isolated ? "/program" : fmt::format("/proc/self/fd/{}", job.program);
  return argv;
}

std::unique_ptr<Subprocess> start_in(const SandboxJob& job, Sandbox::Wall wall) {
  const bool isolated = wall != Sandbox::Wall::kLimits;
  UniqueFd filter;
  if (isolated) {
    const bool nobody_inside = wall == Sandbox::Wall::kRootsBubblewrap && job.is_student_code;
    filter = syscall_filter(nobody_inside ? FilterKind::kToNobody : FilterKind::kTools);
  }
  ProcessSpec command;
  command.argv = command_line(job, wall, filter.get());
  command.inherited = job.inherited;
  if (job.program >= 0) command.inherited.push_back(job.program);
  if (isolated) command.inherited.push_back(filter.get());
  command.max_output_bytes = job.limits.output_bytes;
  command.input = "";
  return std::make_unique<Subprocess>(command);
}

/// Whether bubblewrap can be used this way. It must also let a program start that is started as student code, and that
/// may read these places.
bool works(Sandbox::Wall wall, const std::vector<std::string>& readable = {}) {
  const UniqueFd program(::open("/bin/true", O_RDONLY | O_CLOEXEC));
  SandboxJob job;
  job.argv = {"true"};
  job.readable = readable;
  job.program = program.get();
  job.is_student_code = true;
  const std::unique_ptr<Subprocess> trial = start_in(job, wall);
  while (!trial->wait_for(10)) {
  }
  return trial->status() == 0;
}

/// A program that was started for one job.
class ProgramJob : public RunningJob {
 public:
  explicit ProgramJob(std::unique_ptr<Subprocess> process) : process_(std::move(process)) {}

  pid_t pid() const override { return process_->pid(); }
  bool wait_for(double seconds) override { return process_->wait_for(seconds); }
  void kill() override { process_->kill(); }
  int status() const override { return process_->status(); }
  std::string out() const override { return process_->out(); }
  std::string err() const override { return process_->err(); }
  std::uint64_t dropped_bytes() const override { return process_->dropped_bytes(); }

 private:
  std::unique_ptr<Subprocess> process_;
};

}  // namespace

Sandbox Sandbox::detect(bool wanted, double most_wall_seconds) {
  Sandbox sandbox;
  sandbox.most_wall_seconds_ = most_wall_seconds;
  std::string reason;
  if (!wanted) {
    reason = "bubblewrap was turned off";
  } else if (!is_in_path("bwrap")) {
    reason = "bubblewrap is not installed";
  } else if (works(Wall::kBubblewrap)) {
    sandbox.wall_ = Wall::kBubblewrap;
  } else if (::geteuid() == 0 && works(Wall::kRootsBubblewrap)) {
    sandbox.wall_ = Wall::kRootsBubblewrap;
  } else {
    reason = "bubblewrap cannot create namespaces here";
  }
  sandbox.level_ =
      reason.empty() ? "bubblewrap: no network, no other processes, no files but the lab's; few system calls; limits "
                       "on time, memory, threads and output"
                     : fmt::format("few system calls, and limits on time, memory, threads and output only: {}", reason);
  return sandbox;
}

Sandbox Sandbox::also_reading(std::vector<std::string> places) const {
  Sandbox wider = *this;
  for (std::string& place : places) {
    if (std::filesystem::exists(place)) wider.readable_.push_back(std::move(place));
  }
  // The user without rights cannot enter root's private folders, and find there what it may read.
  if (wider.wall_ == Wall::kBubblewrap && ::geteuid() == 0 && !works(wider.wall_, wider.readable_) &&
      works(Wall::kRootsBubblewrap, wider.readable_))
    wider.wall_ = Wall::kRootsBubblewrap;
  return wider;
}

Sandbox Sandbox::within(double budget_seconds) const {
  Sandbox limited = *this;
  limited.budget_ = std::make_shared<Budget>();
  limited.budget_->seconds = budget_seconds;
  return limited;
}

SandboxResult Sandbox::run(const SandboxJob& job) const {
  launch::Orphans orphans;  // outside of bubblewrap, a process that a job leaves behind becomes ours
  std::vector<StartedJob> jobs(1);
  try {
    jobs[0].job = std::make_unique<ProgramJob>(start(job));
  } catch (const UsageError& refused) {
    jobs[0].refused = refused.what();
  }
  const SandboxResult result = supervise(jobs, job.limits, job.progress).front();
  orphans.kill_all();
  return result;
}

SandboxResult Sandbox::run_or_give_up(const SandboxJob& job) const {
  SandboxResult result = run(job);
  if (result.is_machines_fault()) result = run(job);
  if (result.is_machines_fault()) throw NotJudged(fmt::format("{}, twice", result.ending()));
  return result;
}

std::unique_ptr<Subprocess> Sandbox::start(const SandboxJob& job) const {
  SandboxJob wider = job;
  wider.readable.insert(wider.readable.begin(), readable_.begin(), readable_.end());
  return start_in(wider, wall_);
}

std::vector<SandboxResult> Sandbox::supervise(const std::vector<StartedJob>& jobs, const SandboxLimits& limits,
                                              const std::function<std::uint64_t()>& progress) const {
  return supervise_jobs(jobs, {limits, progress, most_wall_seconds_, isolates(), budget_.get()});
}

}  // namespace lab::grading
