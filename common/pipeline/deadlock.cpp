#include "common/pipeline/deadlock.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/report/errors.h"

namespace lab::pipeline {
namespace {

const Stuck& stuck_at(const Replay& replay, int rank) {
  return replay.stuck[static_cast<std::size_t>(rank)].value();
}

/// Whoever is stuck waits for a rank that is stuck itself, so following the peers ends in a cycle.
std::vector<int> cycle_from(const Replay& replay, int rank) {
  std::vector<int> way;
  std::vector<bool> seen(replay.stuck.size());
  for (; !seen[static_cast<std::size_t>(rank)]; rank = stuck_at(replay, rank).peer_rank) {
    seen[static_cast<std::size_t>(rank)] = true;
    way.push_back(rank);
  }
  way.erase(way.begin(), std::find(way.begin(), way.end(), rank));
  return way;
}

std::string describe_wait(const Schedule& schedule, int rank, const Stuck& stuck) {
  Action whole = stuck.message;
  whole.extent = Extent::kWhole;
  return fmt::format("rank {} waits for its {} {} rank {}", rank, describe(schedule, whole),
                     is_send(whole.operation) ? "to" : "from", stuck.peer_rank);
}

}  // namespace

void check_no_deadlock(const Schedule& schedule, const Replay& replay) {
  const auto first =
      std::find_if(replay.stuck.begin(), replay.stuck.end(), [](const auto& stuck) { return stuck.has_value(); });
  if (first == replay.stuck.end()) return;
  const std::vector<int> cycle = cycle_from(replay, static_cast<int>(first - replay.stuck.begin()));
  constexpr std::size_t kMostNamed = 8;
  const std::size_t named = std::min(cycle.size(), kMostNamed);
  std::string sentence;
  for (std::size_t i = 0; i < named; ++i) {
    sentence += (i == 0 ? "" : ", ") + describe_wait(schedule, cycle[i], stuck_at(replay, cycle[i]));
  }
  if (named < cycle.size()) sentence += fmt::format(", and so on through {} ranks", cycle.size());
  throw DeadlockError(fmt::format("schedule {}: deadlock: {}; hint: start a message, go on, and wait for it later",
                                  schedule.kind, sentence));
}

}  // namespace lab::pipeline
