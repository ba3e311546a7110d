#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <functional>
#include <string>
#include <vector>

#include "common/base/files.h"

// What tests need to know about processes.
namespace lab {

/// True as soon as the condition holds; false if it still does not after half a minute.
bool becomes_true(const std::function<bool()>& condition);

/// Exists and is not a zombie.
bool is_alive(pid_t pid);

/// Live processes of a session.
std::vector<pid_t> processes_of_session(pid_t session);

/// Live processes whose environment contains this text: finds descendants wherever they are.
std::vector<pid_t> processes_with_variable(const std::string& text);

/// Live processes whose program, or working folder, is below this folder.
std::vector<pid_t> processes_in(const std::string& folder);

/// Live children of a process.
std::vector<pid_t> find_children(pid_t parent);

/// Waits for the process; its exit code, or 128 + signal.
int choose_exit_code(pid_t pid);

inline UniqueFd null_output() {
  return UniqueFd(::open("/dev/null", O_WRONLY | O_CLOEXEC));
}

std::string file_text(const std::string& path);

}  // namespace lab
