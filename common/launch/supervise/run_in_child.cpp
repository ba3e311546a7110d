#include "common/launch/supervise/run_in_child.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include "common/api/errors.h"
#include "common/base/failure.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/launch/supervise/launcher_signals.h"
#include "common/launch/supervise/memory_file.h"

namespace lab::launch {
namespace {

constexpr int kStillRunning = -1;  ///< not a valid process status

/// The child's code from fork to _exit. It reports body's exit code as a byte, followed by the message of a failure.
int run_and_report(const std::function<void()>& body, int report) {
  int exit_code = static_cast<int>(ExitCode::kInternal);
  std::string message = "something that is not an exception was thrown";
  try {
    body();
    exit_code = 0;
    message.clear();
  } catch (const std::exception& failure) {
    exit_code = choose_exit_code(failure);
    message = student_message(&failure);
  } catch (...) {
  }
  write_fully(report, static_cast<char>(exit_code) + message);
  return exit_code;
}

int wait_for(pid_t child, int options = 0) {
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(child, &status, options)) < 0 && errno == EINTR) {
  }
  return ended == child ? status : kStillRunning;
}

/// The child's status. A signal to end this process also applies to the child: it is killed, and the caller gets an
/// exception, so that it can clean up.
int wait_unless_told_to_end(pid_t child, const std::string& what, LauncherSignals& signals) {
  for (;;) {
    const int status = wait_for(child, WNOHANG);
    if (status != kStillRunning) return status;
    if (const std::optional<int> signal = signals.next()) {
      ::kill(-child, SIGKILL);  // it leads a process group
      wait_for(child);
      throw Error(static_cast<ExitCode>(128 + *signal),
                  fmt::format("{} during {}", describe_status(W_EXITCODE(0, *signal)), what));
    }
    signals.wait(std::chrono::seconds(1));
  }
}

}  // namespace

void run_in_child(const std::string& what, const std::function<void()>& body) {
  // An in-memory file rather than a pipe: neither a long message nor a process left behind by body can block either
  // side, and it can be read once the child is known to be dead.
  const MemoryFile report("run_in_child");
  LauncherSignals signals;  // before the child exists, or its end could go unnoticed
  const pid_t child = fork_process([&] { return run_and_report(body, report.fd()); });
  const int status = wait_unless_told_to_end(child, what, signals);
  const std::string text = view_bytes(report.fd());
  if (!text.empty() && text[0] != 0) raise(static_cast<ExitCode>(text[0]), text.substr(1));
  if (WIFSIGNALED(status)) throw CommError(fmt::format("{} was {}", what, describe_status(status)));
  if (text.empty()) {
    throw Error(ExitCode::kInternal, fmt::format("{} {} before it was done", what, describe_status(status)));
  }
}

}  // namespace lab::launch
