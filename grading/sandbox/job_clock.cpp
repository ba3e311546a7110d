#include "grading/sandbox/job_clock.h"

#include <dirent.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "common/base/option_value.h"
#include "grading/sandbox/process_usage.h"

namespace lab::grading {
namespace {

std::vector<pid_t> numbered_entries(const std::string& folder) {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return found;
  while (const dirent* entry = ::readdir(open.get())) {
    if (const auto number = option::integer<pid_t>(entry->d_name)) found.push_back(*number);
  }
  return found;
}

bool wants_to_run(char state) {
  return state == 'R' || state == 'D';
}

}  // namespace

std::uint64_t JobTree::total_memory_bytes() const {
  return std::accumulate(memory_bytes.begin(), memory_bytes.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& process) { return sum + process.second; });
}

JobTree tree_below(pid_t root, const std::string& proc) {
  return trees_below({root}, proc).front();
}

std::vector<JobTree> trees_below(const std::vector<pid_t>& roots, const std::string& proc) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t pid : numbered_entries(proc)) {
    if (const auto stat = read_stat(proc + "/" + std::to_string(pid) + "/stat")) children.emplace(stat->parent, pid);
  }
  std::vector<JobTree> trees;
  for (const pid_t root : roots) {
    JobTree& tree = trees.emplace_back();
    std::vector<pid_t> processes = {root};
    for (std::size_t next = 0; next < processes.size(); ++next) {
      const std::string process = proc + "/" + std::to_string(processes[next]);
      for (const pid_t thread : numbered_entries(process + "/task")) {
        if (const auto stat = read_stat(process + "/task/" + std::to_string(thread) + "/stat"))
          tree.threads[thread] = {stat->state, stat->cpu_seconds};
      }
      tree.memory_bytes[processes[next]] = status_bytes(process + "/status", {"RssAnon", "RssShmem"});
      const auto [begin, end] = children.equal_range(processes[next]);
      for (auto child = begin; child != end; ++child) processes.push_back(child->second);
    }
  }
  return trees;
}

void JobClock::look(double seconds, const std::map<pid_t, ThreadState>& threads) {
  const double seen = std::min(seconds, kLongestLook);
  double worst = 0;
  for (const auto& [id, now] : threads) {
    if (!wants_to_run(now.state)) continue;
    const auto found = before_.find(id);
    if (found == before_.end()) {
      worst = std::max(worst, (seen - now.cpu_seconds) / 2);
    } else if (wants_to_run(found->second.state)) {
      worst = std::max(worst, seen - (now.cpu_seconds - found->second.cpu_seconds));
    }
  }
  own_ += seen - worst;
  starved_ += seconds - (seen - worst);
  before_ = threads;
}

}  // namespace lab::grading
