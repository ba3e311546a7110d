#include "common/launch/cores.h"

#include <sched.h>

#include <algorithm>

namespace lab {

int usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return ::sched_getaffinity(0, sizeof(cores), &cores) == 0 ? std::max(1, CPU_COUNT(&cores)) : 1;
}

int threads_per_rank(int num_local_ranks) { return std::max(1, usable_cores() / std::max(1, num_local_ranks)); }

}  // namespace lab
