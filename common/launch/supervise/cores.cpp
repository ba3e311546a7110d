#include "common/launch/supervise/cores.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace lab::launch {
namespace {

namespace fs = std::filesystem;

std::string get_text(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// From cpu.max: "150000 100000", or "max 100000" for no quota.
std::optional<double> quota_v2(const fs::path& group) {
  std::istringstream text(get_text(group / "cpu.max"));
  double quota = 0, period = 0;
  if (text >> quota >> period && quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

/// From two files; a quota of -1 means none.
std::optional<double> quota_v1(const fs::path& group) {
  std::istringstream quota_text(get_text(group / "cpu.cfs_quota_us")),
      period_text(get_text(group / "cpu.cfs_period_us"));
  double quota = 0, period = 0;
  if (quota_text >> quota && period_text >> period && quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

}  // namespace

std::optional<double> cgroup_cpu_quota(const std::string& membership, const std::string& mount) {
  std::optional<double> smallest;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {  // "0::/user.slice" or "4:cpu,cpuacct:/docker/1f"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_v2 = controllers == ",,";
    if (!is_v2 && controllers.find(",cpu,") == std::string::npos) continue;
    const fs::path top = is_v2 ? fs::path(mount) : fs::path(mount) / "cpu";
    // In a container, its own group may be at the top while the path is the host's.
    for (fs::path group = fs::path(line.substr(second + 1)).relative_path();; group = group.parent_path()) {
      const std::optional<double> quota = is_v2 ? quota_v2(top / group) : quota_v1(top / group);
      if (quota) smallest = std::min(smallest.value_or(*quota), *quota);
      if (group.empty()) break;
    }
  }
  return smallest;
}

int usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  const int cores = ::sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : 1;
  const double quota = cgroup_cpu_quota(get_text("/proc/self/cgroup")).value_or(cores);
  return std::max(1, std::min(cores, static_cast<int>(std::floor(quota))));
}

int threads_per_rank(int num_local_ranks, std::optional<int> allotted) {
  const int cores = usable_cores();
  return std::max(1, std::min(cores, allotted.value_or(cores)) / std::max(1, num_local_ranks));
}

}  // namespace lab::launch
