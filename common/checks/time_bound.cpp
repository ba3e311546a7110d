#include "common/checks/time_bound.h"

#include <fmt/format.h>

#include <algorithm>

namespace lab {
namespace {

double milliseconds(std::int64_t picoseconds) {
  return static_cast<double>(picoseconds) * 1e-9;
}

std::size_t longest(const std::vector<ModelTime>& by_rank, std::int64_t ModelTime::*part) {
  const auto found = std::max_element(by_rank.begin(), by_rank.end(),
                                      [part](const ModelTime& a, const ModelTime& b) { return a.*part < b.*part; });
  return static_cast<std::size_t>(found - by_rank.begin());
}

std::string too_long(const TimeBound& bound, const std::vector<ModelTime>& by_rank, std::int64_t total) {
  std::int64_t work = 0;
  for (const ModelTime& time : by_rank) work += time.work;
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

}  // namespace

std::optional<TimeExcess> beyond_time(const TimeBound& bound, const std::vector<ModelTime>& by_rank) {
  const std::size_t slowest = longest(by_rank, &ModelTime::total), waiter = longest(by_rank, &ModelTime::waiting);
  const std::int64_t total = by_rank[slowest].total, waiting = by_rank[waiter].waiting;
  if (total > bound.max_ps) return TimeExcess{slowest, too_long(bound, by_rank, total)};
  if (waiting <= bound.max_waiting_ps) return std::nullopt;
  return TimeExcess{waiter,
                    fmt::format("waits {:.3g} ms of model time for messages, expected at most {:.3g}: post them "
                                "earlier, so that they travel while the rank works",
                                milliseconds(waiting), milliseconds(bound.max_waiting_ps))};
}

}  // namespace lab
