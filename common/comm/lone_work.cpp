#include "common/comm/lone_work.h"

#include <ATen/ATen.h>

#include <chrono>

namespace lab::comm {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBetweenReports{200};

/// How many ranks are still working, summed over all ranks.
std::int64_t num_working(Collectives& comm, bool self) {
  return comm.all_reduce(at::full({1}, self ? 1 : 0, at::kLong)).item<std::int64_t>();
}

}  // namespace

void work_while_others_wait(Collectives& comm, const std::function<void(const ReportProgress& report)>& work) {
  if (work) {
    auto last = Clock::now();
    work([&] {
      if (Clock::now() - last < kBetweenReports) return;
      num_working(comm, true);
      last = Clock::now();
    });
  }
  while (num_working(comm, false) != 0) {
  }
}

}  // namespace lab::comm
