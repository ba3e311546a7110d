#pragma once

#include <optional>
#include <string>

namespace lab::launch {

/// Cores that this process may use: those of its affinity mask, limited by its cgroup's CPU quota (rounded down, at
/// least 1).
int usable_cores();

/// usable_cores(), or `allotted` if that is fewer, divided among the ranks of one machine; at least 1.
int threads_per_rank(int num_local_ranks, std::optional<int> allotted = std::nullopt);

/// The smallest CPU quota, in cores, on the way from a process's cgroup to the root, in cgroup versions 1 and 2.
/// `membership` is the text of /proc/self/cgroup, `mount` the folder where cgroups are mounted. Empty: no quota.
/// Source    Linux, Documentation/admin-guide/cgroup-v2.rst (cpu.max) and scheduler/sched-bwc.rst (cpu.cfs_quota_us)
std::optional<double> cgroup_cpu_quota(const std::string& membership, const std::string& mount = "/sys/fs/cgroup");

}  // namespace lab::launch
