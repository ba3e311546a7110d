#pragma once

#include <ATen/ATen.h>

#include "common/testing/test.h"
#include "common/testing/worlds.h"

// Work and messages of round model times, and what ranks report of theirs (comm/model_time.md).
namespace lab::launch {

constexpr std::int64_t kUs = 1'000'000;              ///< picoseconds
constexpr std::int64_t kL = 20 * kUs, kO = 2 * kUs;  ///< of the default rates
constexpr std::int64_t kFlopsPerUs = 10'000;
constexpr int kSizes[] = {2, 3, 4, 5, 8};  ///< of worlds

inline void work_us(std::int64_t microseconds) {
  if (microseconds > 0) at::ones({microseconds * kFlopsPerUs}).add_(1);
}

/// 2,000 bytes take a microsecond. 40 us have a payload of their own, in every world.
inline at::Tensor data_us(std::int64_t microseconds) {
  return at::zeros({microseconds * 2000}, at::kByte);
}

inline ModelTime time_of_rank(const WorldOutcome& outcome, int rank) {
  return outcome.ranks[static_cast<std::size_t>(rank)].report.model_time_ps;
}

inline void check_us(const WorldOutcome& outcome, int rank, std::int64_t work, std::int64_t waiting,
                     std::int64_t overhead) {
  CAPTURE(rank);
  const ModelTime time = time_of_rank(outcome, rank);
  CHECK(time.work == work * kUs);
  CHECK(time.waiting == waiting * kUs);
  CHECK(time.overhead == overhead * kUs);
  CHECK(time.total == (work + waiting + overhead) * kUs);
}

}  // namespace lab::launch
