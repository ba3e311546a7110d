#include "common/launch/supervise/cores.h"

#include <filesystem>

#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

using namespace lab;
using namespace lab::launch;
using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;

namespace {

void make_group(const TemporaryFolder& mount, const std::string& group) {
  std::filesystem::create_directories(mount.file(group));
}

}  // namespace

TEST_CASE("the CPU quota of cgroup version 2 is the smallest on the way to the root") {
  const TemporaryFolder mount;
  make_group(mount, "slice/job");
  CHECK_FALSE(cgroup_cpu_quota("0::/slice/job\n", mount.file("")));
  write_bytes(mount.file("slice/job/cpu.max"), "max 100000\n");
  CHECK_FALSE(cgroup_cpu_quota("0::/slice/job\n", mount.file("")));
  write_bytes(mount.file("slice/cpu.max"), "150000 100000\n");
  CHECK(cgroup_cpu_quota("0::/slice/job\n", mount.file("")) == 1.5);
  write_bytes(mount.file("slice/job/cpu.max"), "50000 100000\n");
  CHECK(cgroup_cpu_quota("0::/slice/job\n", mount.file("")) == 0.5);
  CHECK(cgroup_cpu_quota("0::/slice\n", mount.file("")) == 1.5);
  CHECK_FALSE(cgroup_cpu_quota("0::/\n", mount.file("")));
}

TEST_CASE("a container that sees its own group at the top, under the host's path, finds its quota") {
  const TemporaryFolder mount;
  write_bytes(mount.file("cpu.max"), "200000 100000\n");
  CHECK(cgroup_cpu_quota("0::/docker/1f2e\n", mount.file("")) == 2);
}

TEST_CASE("the CPU quota of cgroup version 1") {
  const TemporaryFolder mount;
  make_group(mount, "cpu/docker/1f");
  const std::string membership = "5:memory:/docker/1f\n4:cpu,cpuacct:/docker/1f\n1:name=systemd:/docker/1f\n";
  write_bytes(mount.file("cpu/docker/1f/cpu.cfs_period_us"), "100000\n");
  write_bytes(mount.file("cpu/docker/1f/cpu.cfs_quota_us"), "-1\n");
  CHECK_FALSE(cgroup_cpu_quota(membership, mount.file("")));
  write_bytes(mount.file("cpu/docker/1f/cpu.cfs_quota_us"), "300000\n");
  CHECK(cgroup_cpu_quota(membership, mount.file("")) == 3);
}

TEST_CASE("every rank gets a thread, however many share a core") {
  CHECK(usable_cores() >= 1);
  CHECK(threads_per_rank(1) == usable_cores());
  CHECK(threads_per_rank(1'000'000) == 1);
  CHECK(threads_per_rank(0) == usable_cores());
  CHECK(threads_per_rank(1, 1) == 1);
  CHECK(threads_per_rank(1, 0) == 1);
  CHECK(threads_per_rank(1, 1'000'000) == usable_cores());
}
