#include <algorithm>
#include <random>

#include "common/api/errors.h"
#include "common/pipeline/generators.h"
#include "common/pipeline/tests/dependencies.h"
#include "common/pipeline/timeline.h"
#include "common/testing/plain_test.h"

using namespace lab::pipeline;

TEST_CASE("pipeline validate: what random damage leaves is refused, or still computes the right thing") {
  std::mt19937 random(7);
  int accepted = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    CAPTURE(trial);
    const auto pick = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
    const std::string kind = schedule_kinds()[pick(schedule_kinds().size())];
    const int p = 1 + static_cast<int>(pick(4));
    const bool interleaved = kind == "interleaved";
    const Waiting waiting = kind == "afab" && pick(2) == 0 ? Waiting::kBlocking : Waiting::kLate;
    Schedule schedule = make_schedule({kind, p, interleaved ? p : 1 + static_cast<int>(pick(3)),
                                       interleaved ? 1 + static_cast<int>(pick(3)) : 1, waiting});
    for (int change = 0; change <= trial % 3; ++change) {
      std::vector<Action>& list = schedule.ranks[pick(schedule.ranks.size())];
      if (list.empty()) continue;
      const std::size_t at = pick(list.size());
      const auto there = list.begin() + static_cast<std::ptrdiff_t>(at);
      switch (pick(4)) {
        case 0: list.erase(there); break;
        case 1: list.insert(there, Action(*there)); break;
        case 2: std::swap(*there, list[pick(list.size())]); break;
        default: std::swap(*there, list[std::min(at + 1, list.size() - 1)]);
      }
    }
    try {
      validate(schedule);
    } catch (const lab::ContractError&) {
      continue;
    } catch (const lab::DeadlockError&) {
      continue;
    }
    ++accepted;
    CHECK(in_right_order(schedule, make_timeline(schedule, Costs{})));
  }
  CHECK(accepted > 100);
}
