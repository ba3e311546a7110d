#include "common/launch/supervise/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "common/base/errors.h"
#include "common/base/failure.h"
#include "common/base/files.h"

namespace lab {
namespace {

constexpr int kCannotRun = 127;

void flush_output() {
  std::cout.flush();
  std::fflush(nullptr);
}

// An ignored signal stays ignored, so that nohup works for the ranks. SIGPIPE is reset in any case.
void reset_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) {
    struct sigaction action = {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) ::signal(signal, SIG_DFL);
  }
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The child's first steps.
void become_rank(pid_t parent, const SpawnOptions& options) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotRun);  // the parent died before PR_SET_PDEATHSIG took effect
  if (!options.keep_terminal) {
    ::setpgid(0, 0);
    // Outside the terminal's foreground group, a read from the terminal would silently stop the rank.
    if (::isatty(0) != 0) {
      const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (nothing.get() >= 0) ::dup2(nothing.get(), 0);
    }
  }
  if (options.stdout_fd >= 0) ::dup2(options.stdout_fd, 1);
  if (options.stderr_fd >= 0) ::dup2(options.stderr_fd, 2);
  reset_signals();
}

pid_t fork_child(const SpawnOptions& options, const std::function<void()>& child) {
  flush_output();  // buffered output would otherwise be printed by both processes
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw UsageError(fmt::format("cannot start another process: {}", std::strerror(errno)));
  if (pid == 0) {
    become_rank(parent, options);
    child();
    ::_exit(kCannotRun);
  }
  if (!options.keep_terminal) ::setpgid(pid, pid);  // here too, so that the group exists before it is signalled
  return pid;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> with_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (added.count(text.substr(0, text.find('='))) == 0) all.push_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

}  // namespace

pid_t fork_rank(const std::function<int()>& body, const SpawnOptions& options) {
  return fork_child(options, [&body] {
    int exit_code = 0;
    try {
      exit_code = body();
    } catch (const std::exception& failure) {
      write_fully(2, fmt::format("error: {}\n", message_of(failure)));
      exit_code = exit_code_of(failure);
    } catch (...) {
      write_fully(2, "internal error: something that is not an exception was thrown\n");
      exit_code = static_cast<int>(ExitCode::kInternal);
    }
    flush_output();
    ::_exit(exit_code);
  });
}

pid_t exec_rank(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment,
                const SpawnOptions& options) {
  std::vector<std::string> arguments = argv, variables = with_environment(environment);
  const std::vector<char*> argument_pointers = pointers(arguments), variable_pointers = pointers(variables);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw UsageError(fmt::format("cannot create a pipe: {}", std::strerror(errno)));
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  // A program that starts closes the pipe and sends nothing; one that does not sends errno.
  const pid_t pid = fork_child(options, [&] {
    ::execvpe(argument_pointers[0], argument_pointers.data(), variable_pointers.data());
    const int error = errno;
    write_fully(write_end.get(), std::string_view(reinterpret_cast<const char*>(&error), sizeof(error)));
  });
  write_end.reset();
  int error = 0;
  ssize_t num_read = 0;
  do num_read = ::read(read_end.get(), &error, sizeof(error));
  while (num_read < 0 && errno == EINTR);
  if (num_read != static_cast<ssize_t>(sizeof(error))) return pid;
  ::waitpid(pid, nullptr, 0);
  throw UsageError(fmt::format("cannot run {}: {}", argv[0], std::strerror(error)));
}

}  // namespace lab
