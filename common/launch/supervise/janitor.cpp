#include "common/launch/supervise/janitor.h"

#include <dirent.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "common/api/errors.h"
#include "common/base/machine_limits.h"
#include "common/base/option_value.h"
#include "common/base/subprocess.h"

namespace lab::launch {
namespace {

namespace fs = std::filesystem;

/// Whether the process works in the folder, or was started with it as TMPDIR and has moved elsewhere, or was about to: a
/// sandbox whose outer process is killed while it is set up waits for that one without end.
bool belongs_to(const std::string& folder, pid_t process) {
  std::error_code gone;
  const std::string place = fs::read_symlink(fmt::format("/proc/{}/cwd", process), gone).string();
  if (!gone && (place + "/").rfind(folder + "/", 0) == 0) return true;
  std::ifstream file(fmt::format("/proc/{}/environ", process));
  for (std::string variable; std::getline(file, variable, '\0');)
    if ((variable + "/").rfind("TMPDIR=" + folder + "/", 0) == 0) return true;
  return false;
}

/// Kills every process that belongs to the folder. Whether there was one.
bool kill_those_below(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(proc.get())) {
    const auto pid = option::integer<pid_t>(entry->d_name);
    if (!pid) continue;
    if (belongs_to(folder, *pid)) found = ::kill(*pid, SIGKILL) == 0 || found;
  }
  return found;
}

/// Returns when the process has ended, or says through the pipe that it is about to. (The end of the pipe alone would not
/// do: processes that it forked hold it, too.)
void wait_for_end(int process, int pipe) {
  std::array<pollfd, 2> ends = {pollfd{process, POLLIN, 0}, pollfd{pipe, POLLIN, 0}};
  while (::poll(ends.data(), ends.size(), -1) < 0 && errno == EINTR) {
  }
}

/// In a process of its own.
[[noreturn]] void clean_up_after(const std::string& folder, int process, int pipe) {
  ::setsid();  // what ends the other process by its group or terminal must not end this one
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
  ::prctl(PR_SET_NAME, "janitor");
  wait_for_end(process, pipe);
  // The folder first: once it is gone nobody moves into it, and who was there is found by the name that it had. Killed
  // processes may still write for a moment, and one that just becomes another program has no environment to be read: only
  // two looks in a row that find nothing are believed.
  std::error_code ignored;
  for (int turn = 0, num_quiet = 0; turn < 50; ++turn) {
    fs::remove_all(folder, ignored);
    const bool is_gone = !fs::exists(folder, ignored);
    num_quiet = !kill_those_below(folder) && is_gone ? num_quiet + 1 : 0;
    if (num_quiet == 2) break;
    ::usleep(num_quiet == 1 ? 5'000 : 20'000);
  }
  ::_exit(0);
}

}  // namespace

Janitor::Janitor() {
  const std::string folder = fs::canonical(folder_.path()).string();
  const UniqueFd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (self.get() < 0) throw UsageError("cannot watch this process: " + describe_error(errno));
  UniqueFd seen;
  std::tie(seen, alive_) = make_pipe();
  process_ = ::fork();
  if (process_ < 0) throw UsageError("cannot start another process: " + describe_error(errno));
  if (process_ == 0) {
    alive_.reset();
    // Whoever waits for the end of this process's output does not wait for the janitor's.
    for (const int fd : {0, 1, 2}) ::close(fd);
    clean_up_after(folder, self.get(), seen.get());
  }
  ::setenv("TMPDIR", folder.c_str(), 1);
}

Janitor::~Janitor() {
  write_fully(alive_.get(), ".");
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace lab::launch
