#include "grading/processes/own_processes.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/launch/supervise/launcher_signals.h"
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

  /// Asks those that still run to end, so that a launcher can end what it has started elsewhere.
  ~ForkedItems() {
    constexpr std::chrono::seconds kGrace{5};
    const auto deadline = std::chrono::steady_clock::now() + kGrace;
    // All are told to end before the first is waited for.
    for (const auto& [item, process] : running_) ::kill(-process.pid, SIGTERM);
    for (const auto& [item, process] : running_) {
      while (!has_ended(process) && std::chrono::steady_clock::now() < deadline) ::usleep(20'000);
      reap(process);
    }
  }
  ForkedItems(const ForkedItems&) = delete;
  ForkedItems& operator=(const ForkedItems&) = delete;

  bool are_done() const { return num_left_ == 0 && running_.empty(); }

  void start() {
    while (num_left_ > 0 && running_.size() < static_cast<std::size_t>(work_.jobs)) {
      // The last ones first: courses put the short assignments first, and a long one at the end would run alone.
      const std::size_t item = --num_left_;
      Process process(work_.max_output_bytes);
      ProcessOptions options;
      options.stdout_fd = process.out.write_end().get();
      options.stderr_fd = process.err.write_end().get();
      std::fflush(nullptr);  // otherwise the child would print it, too
      process.pid = fork_process([&] { return work_.body(item); }, options);
      for (CapturedOutput* output : {&process.out, &process.err}) output->write_end().reset();
      running_.emplace(item, std::move(process));
    }
  }

  /// Returns when there is something to collect, or after a while.
  void wait(const launch::LauncherSignals& signals) const {
    constexpr std::chrono::milliseconds kBetweenLooks{200};  // the end of a process interrupts it
    std::vector<int> outputs;
    for (const auto& [item, process] : running_) {
      for (const CapturedOutput* output : {&process.out, &process.err}) {
        if (output->read_end() >= 0) outputs.push_back(output->read_end());
      }
    }
    signals.wait(kBetweenLooks, outputs);
  }

  void kill_lost() const {
    for (const auto& [item, process] : running_) {
      if (work_.is_lost(item)) ::kill(-process.pid, SIGKILL);
    }
  }

  void collect() {
    for (auto at = running_.begin(); at != running_.end();) {
      Process& process = at->second;
      const bool ended = has_ended(process);  // before its output is read to its end
      for (CapturedOutput* output : {&process.out, &process.err}) output->read();
      if (!ended) {
        ++at;
        continue;
      }
      const std::size_t item = at->first;
      const ForkedEnd end{exit_code_of_status(reap(process)), process.out.text(), process.err.text()};
      at = running_.erase(at);
      work_.ended(item, end);
    }
  }

 private:
  struct Process {
    explicit Process(std::size_t max_bytes) : out(max_bytes), err(max_bytes) {}

    pid_t pid = -1;
    CapturedOutput out, err;
  };

  /// It stays to be reaped: until then its group's number is its own.
  static bool has_ended(const Process& process) {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(process.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == process.pid;
  }

  /// Kills it and what is left of its group.
  static int reap(const Process& process) {
    int status = 0;
    ::kill(-process.pid, SIGKILL);
    while (::waitpid(process.pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  const ForkedWork& work_;
  std::size_t num_left_;
  std::map<std::size_t, Process> running_;
};

}  // namespace

std::optional<int> run_forked(const ForkedWork& work) {
  launch::LauncherSignals signals;
  for (ForkedItems items(work);; items.wait(signals)) {
    if (const auto signal = signals.next()) return signal;
    items.collect();
    items.start();
    if (items.are_done()) return std::nullopt;
    if (work.is_lost) items.kill_lost();
  }
}

}  // namespace lab::grading
