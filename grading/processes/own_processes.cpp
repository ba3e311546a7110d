#include "grading/processes/own_processes.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/launch/supervise/launcher_signals.h"
#include "common/launch/supervise/run_directory.h"

namespace lab::grading {

void run_in_own_processes(const OwnProcesses& work) {
  const launch::RunDirectory results;
  const auto result_of = [&](std::size_t item) { return fmt::format("{}/{}", results.path(), item); };
  std::map<std::size_t, Subprocess> running;  // by item
  for (std::size_t next = 0; next < work.count || !running.empty();) {
    while (next < work.count && running.size() < static_cast<std::size_t>(work.jobs)) {
      ProcessSpec one;
      one.argv = work.arguments(next, result_of(next));
      one.argv.insert(one.argv.begin(), own_program());
      one.capture = false;
      running.emplace(next++, one);
    }
    const auto ended =
        std::find_if(running.begin(), running.end(), [](auto& one) { return one.second.wait_for(0.02); });
    if (ended == running.end()) continue;
    const std::size_t item = ended->first;
    running.erase(ended);
    const std::string result = result_of(item);
    work.ended(item, std::filesystem::exists(result) ? std::optional(read_file(result)) : std::nullopt);
  }
}

namespace {

/// A file without a name.
UniqueFd memory_file() {
  UniqueFd file(::memfd_create("written", MFD_CLOEXEC));
  if (file.get() < 0) throw UsageError("the system refuses a file in memory");
  return file;
}

std::string content_of(const UniqueFd& file) {
  return read_file(fmt::format("/proc/self/fd/{}", file.get()));
}

class ForkedItems {
 public:
  explicit ForkedItems(const ForkedWork& work) : work_(work), num_left_(work.count) {}

  ~ForkedItems() {
    for (const auto& [item, process] : running_) ::kill(-process.pid, SIGKILL);
    for (const auto& [item, process] : running_) ::waitpid(process.pid, nullptr, 0);
  }
  ForkedItems(const ForkedItems&) = delete;
  ForkedItems& operator=(const ForkedItems&) = delete;

  bool are_done() const { return num_left_ == 0 && running_.empty(); }

  void start() {
    while (num_left_ > 0 && running_.size() < static_cast<std::size_t>(work_.jobs)) {
      // The last ones first: courses put the short assignments first, and a long one at the end would run alone.
      const std::size_t item = --num_left_;
      Process process{-1, memory_file(), memory_file()};
      ProcessOptions options;
      options.stdout_fd = process.out.get();
      options.stderr_fd = process.err.get();
      std::fflush(nullptr);  // otherwise the child would print it, too
      process.pid = fork_process([&] { return work_.body(item); }, options);
      running_.emplace(item, std::move(process));
    }
  }

  void collect() {
    for (auto at = running_.begin(); at != running_.end();) {
      int status = 0;
      if (::waitpid(at->second.pid, &status, WNOHANG) != at->second.pid) {
        ++at;
        continue;
      }
      const std::size_t item = at->first;
      const ForkedEnd end{exit_code_of_status(status), content_of(at->second.out), content_of(at->second.err)};
      at = running_.erase(at);
      work_.ended(item, end);
    }
  }

 private:
  struct Process {
    pid_t pid = -1;
    UniqueFd out, err;
  };

  const ForkedWork& work_;
  std::size_t num_left_;
  std::map<std::size_t, Process> running_;
};

}  // namespace

std::optional<int> run_forked(const ForkedWork& work) {
  constexpr std::chrono::milliseconds kBetweenLooks{200};  // the end of a process interrupts it
  launch::LauncherSignals signals;
  for (ForkedItems items(work);; signals.wait(kBetweenLooks)) {
    if (const auto signal = signals.next()) return signal;
    items.collect();
    items.start();
    if (items.are_done()) return std::nullopt;
  }
}

}  // namespace lab::grading
