#include "common/comm/descriptors.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "common/report/errors.h"

namespace lab {
namespace {

// 0 where the system does not tell.
int num_open_descriptors() {
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  int count = -3;  // ".", ".." and the folder itself
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return std::max(count, 0);
}

}  // namespace

void reserve_descriptors(int num_needed) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const int num_open = num_open_descriptors();
  const auto wanted = static_cast<rlim_t>(num_open + num_needed);
  if (wanted <= limit.rlim_cur) return;
  if (wanted <= limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  }
  throw UsageError(
      fmt::format("too few file descriptors: expected {} to be allowed ({} are open, and the connections to the other "
                  "ranks need {} more), got {}; hint: raise the limit, as with ulimit -n 1024",
                  wanted, num_open, num_needed, limit.rlim_cur));
}

}  // namespace lab
