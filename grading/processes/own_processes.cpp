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

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/launch/supervise/launcher_signals.h"
#include "common/launch/supervise/memory_file.h"
#include "common/launch/supervise/run_directory.h"

namespace lab::grading {

void print_row(const Verdict& verdict, const std::string& name, const std::string& what) {
  fmt::print("{:5}  {:44} {:6.1f} s  {}\n", verdict.as_required ? "ok" : "WRONG", name, verdict.seconds, what);
  if (!verdict.complaint.empty()) fmt::print("       {}\n", verdict.complaint);
  if (!verdict.found.empty()) fmt::print("       {}\n", verdict.found.substr(0, 200));
  std::fflush(stdout);
}

void run_in_own_processes(const OwnProcesses& work) {
  const launch::RunDirectory results;
  const auto run_and_get_result = [&](std::size_t item) { return fmt::format("{}/{}", results.path(), item); };
  std::map<std::size_t, Subprocess> running;  // by item
  for (std::size_t next = 0; next < work.count || !running.empty();) {
    while (next < work.count && running.size() < static_cast<std::size_t>(work.jobs)) {
      ProcessSpec one;
      one.argv = work.arguments(next);
      one.argv.insert(one.argv.begin(), own_program());
      one.argv.insert(one.argv.end(), {"--result", run_and_get_result(next)});
      one.capture = false;
      running.emplace(next++, one);
    }
    const auto ended =
        std::find_if(running.begin(), running.end(), [](auto& one) { return one.second.wait_for(0.02); });
    if (ended == running.end()) continue;
    const std::size_t item = ended->first;
    running.erase(ended);
    const std::string result = run_and_get_result(item);
    Verdict verdict;
    verdict.complaint = "the judge itself failed: see above";
    if (std::filesystem::exists(result)) verdict = from_json_text<Verdict>(read_file(result), "a verdict");
    work.ended(item, verdict);
  }
}

namespace {

class ForkedItems {
 public:
  explicit ForkedItems(const ForkedWork& work) : work_(work), num_left_(work.count) {}

  ~ForkedItems() {
    // All are told to end before the first is waited for.
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
      Process process;
      ProcessOptions options;
      options.stdout_fd = process.out.fd();
      options.stderr_fd = process.err.fd();
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
      const ForkedEnd end{exit_code_of_status(status), launch::view_bytes(at->second.out.fd()),
                          launch::view_bytes(at->second.err.fd())};
      at = running_.erase(at);
      work_.ended(item, end);
    }
  }

 private:
  struct Process {
    pid_t pid = -1;
    launch::MemoryFile out{"out", MFD_CLOEXEC}, err{"err", MFD_CLOEXEC};
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
