#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

// Creates a rank's process. It dies with the process that created it (SIGKILL, however that one ended), leads its own
// process group, so that everything it starts can be signalled with it, and starts with no signal blocked or handled.
namespace lab {

struct SpawnOptions {
  bool keep_terminal = false;  ///< stay in this process's group and keep its terminal as input, as a debugger must
  int stdout_fd = -1;          ///< negative: this process's own
  int stderr_fd = -1;
};

/// Runs body in a child, which ends by _exit with what body returns: no destructor or exit handler of the parent runs
/// twice. An exception from body becomes one line on stderr and its exit code.
/// Call      from the main thread, before any other thread is started: a child dies with the *thread* that created it
/// Errors    UsageError: the process cannot be created
pid_t fork_rank(const std::function<int()>& body, const SpawnOptions& options = {});

/// Runs a program, looked up in PATH, with `environment` added to this process's own. Returns once it is running.
/// Errors    UsageError: it does not exist or cannot be run; no process is left
pid_t exec_rank(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment,
                const SpawnOptions& options = {});

}  // namespace lab
