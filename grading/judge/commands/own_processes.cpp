#include "grading/judge/commands/own_processes.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <thread>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"
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

std::vector<int> run_forked(std::size_t count, int jobs, const std::function<int(std::size_t item)>& body) {
  constexpr std::chrono::milliseconds kBetweenLooks{10};
  struct Item {
    pid_t pid = -1;
    bool ended = false;
    UniqueFd printed;
  };
  std::vector<Item> items(count);
  std::vector<int> exit_codes(count, 0);
  std::fflush(nullptr);  // otherwise each child would print it, too
  std::size_t num_running = 0, num_shown = 0;
  // The last ones first: courses put the short assignments first, and a long one at the end would run alone.
  for (std::size_t num_left = count; num_shown < count; std::this_thread::sleep_for(kBetweenLooks)) {
    while (num_left > 0 && num_running < static_cast<std::size_t>(jobs)) {
      Item& item = items[--num_left];
      item.printed = UniqueFd(::memfd_create("printed", MFD_CLOEXEC));
      if (item.printed.get() < 0) throw UsageError("the system refuses a file in memory");
      ProcessOptions options;
      options.stdout_fd = item.printed.get();
      item.pid = fork_process([&, index = num_left] { return body(index); }, options);
      ++num_running;
    }
    for (std::size_t index = num_left; index < count; ++index) {
      int status = 0;
      if (items[index].ended || ::waitpid(items[index].pid, &status, WNOHANG) != items[index].pid) continue;
      items[index].ended = true;
      exit_codes[index] = exit_code_of_status(status);
      --num_running;
    }
    for (; num_shown < count && items[num_shown].ended; ++num_shown) {
      const std::string text = read_file(fmt::format("/proc/self/fd/{}", items[num_shown].printed.get()));
      fmt::print("{}", text);
      std::fflush(stdout);
    }
  }
  return exit_codes;
}

}  // namespace lab::grading
