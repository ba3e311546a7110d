#include "common/launch/supervise/orphans.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "common/base/option_value.h"

namespace lab::launch {
namespace {

// Without scanning /proc, which takes time: most programs leave no process behind.
bool has_children() {
  siginfo_t info = {};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

pid_t find_parent(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t end_of_name = line.rfind(')');  // the name may contain spaces and parentheses
  if (end_of_name == std::string::npos) return -1;
  std::istringstream fields(line.substr(end_of_name + 1));
  char state = 0;
  pid_t parent = -1;
  fields >> state >> parent;
  return parent;
}

std::set<pid_t> children() {
  std::set<pid_t> found;
  if (!has_children()) return found;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return found;
  while (const dirent* entry = ::readdir(proc.get())) {
    const auto pid = option::integer<pid_t>(entry->d_name);
    if (pid && find_parent(entry->d_name) == ::getpid()) found.insert(*pid);
  }
  return found;
}

}  // namespace

Orphans::Orphans() : others_(children()) {
  ::prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Orphans::~Orphans() {
  if (was_subreaper_ == 0) ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

void Orphans::kill_all() {
  // The children of a killed process become children of this one: until there are no more.
  for (bool killed = true; killed;) {
    killed = false;
    for (const pid_t pid : children()) {
      if (others_.count(pid) != 0) continue;
      ::kill(pid, SIGKILL);
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
      killed = true;
    }
  }
}

}  // namespace lab::launch
