#include "common/launch/supervise/run_in_child.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <vector>

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

struct Worker {
  pid_t process = 0;
  int status = kStillRunning;
};

/// Waits until all have ended. A signal to end this process also applies to the workers: they are killed, and the caller
/// gets an exception, so that it can clean up.
void wait_unless_told_to_end(std::vector<Worker>& workers, const std::string& what, LauncherSignals& signals) {
  for (;;) {
    bool any_runs = false;
    for (Worker& worker : workers) {
      if (worker.status == kStillRunning) worker.status = wait_for(worker.process, WNOHANG);
      any_runs = any_runs || worker.status == kStillRunning;
    }
    if (!any_runs) return;
    if (const std::optional<int> signal = signals.next()) {
      for (const Worker& worker : workers) {
        if (worker.status != kStillRunning) continue;
        ::kill(-worker.process, SIGKILL);  // it leads a process group
        wait_for(worker.process);
      }
      throw Error(static_cast<ExitCode>(128 + *signal),
                  fmt::format("{} during {}", describe_status(W_EXITCODE(0, *signal)), what));
    }
    signals.wait(std::chrono::seconds(1));
  }
}

/// What the child has reported, if that is a failure.
void raise_failure(const std::string& what, const std::string& report, int status) {
  if (!report.empty() && report[0] != 0) raise(static_cast<ExitCode>(report[0]), report.substr(1));
  if (WIFSIGNALED(status)) throw CommError(fmt::format("{} was {}", what, describe_status(status)));
  if (report.empty())
    throw Error(ExitCode::kInternal, fmt::format("{} {} before it was done", what, describe_status(status)));
}

}  // namespace

void run_in_children(const std::vector<ChildWork>& works) {
  // In-memory files rather than pipes: neither a long message nor a process left behind by a body can block either
  // side, and they can be read once the children are known to be dead.
  std::vector<MemoryFile> reports;
  for (std::size_t i = 0; i < works.size(); ++i) reports.emplace_back("run_in_child");
  LauncherSignals signals;  // before a child exists, or its end could go unnoticed
  std::vector<Worker> workers;
  for (std::size_t i = 0; i < works.size(); ++i)
    workers.push_back({fork_process([&] { return run_and_report(works[i].body, reports[i].fd()); })});
  wait_unless_told_to_end(workers, works.front().what, signals);
  for (std::size_t i = 0; i < works.size(); ++i)
    raise_failure(works[i].what, view_bytes(reports[i].fd()), workers[i].status);
}

void run_in_child(const std::string& what, const std::function<void()>& body) {
  run_in_children({{what, body}});
}

}  // namespace lab::launch
