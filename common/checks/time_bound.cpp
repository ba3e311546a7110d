#include "common/checks/time_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lab {
namespace {

double milliseconds(std::int64_t picoseconds) {
  return static_cast<double>(picoseconds) * 1e-9;
}

}  // namespace

std::string beyond_time(const TimeBound& bound, const std::vector<ModelTime>& by_rank) {
  std::int64_t total = 0, work = 0;
  for (const ModelTime& time : by_rank) {
    total = std::max(total, time.total);
    work += time.work;
  }
  if (total <= bound.max_ps) return "";
  const auto num_ranks = static_cast<double>(by_rank.size());
  const double at_work = static_cast<double>(work) / static_cast<double>(total);
  // Not exactly one: the ranks also begin and end together.
  constexpr double kOneAtATime = 1.25;
  return fmt::format(
      "takes {:.3g} ms of model time, expected at most {:.3g} (it can be done in {:.3g}): {}{:.1f} of {} {}s idle",
      milliseconds(total), milliseconds(bound.max_ps), milliseconds(bound.needed_ps),
      at_work < kOneAtATime ? fmt::format("one {} at work at a time: ", bound.unit) : "", num_ranks - at_work,
      by_rank.size(), bound.unit);
}

}  // namespace lab
