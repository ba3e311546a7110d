#include "grading/judge/commands/own_processes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

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

}  // namespace lab::grading
