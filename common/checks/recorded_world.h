#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/record.h"
#include "common/checks/verdict.h"

namespace lab {

/// What the ranks of one world have recorded.
struct RecordedWorld {
  std::vector<std::vector<CaseRecord>> by_rank;
  bool intact = true;  ///< false: something other than a record was written, perhaps over records

  /// The rank's record of a case; nullptr: none.
  const CaseRecord* find(int rank, const Case& test_case) const;
  /// Whether every rank that was asked returned from the case, reached a TODO or skipped it.
  bool came_through(const Case& test_case) const;
  /// Whether some rank had finished the case, and may have gone on to the next one.
  bool some_rank_left(const Case& test_case) const;
  CaseVerdict judged(const Case& test_case, std::uint64_t seed) const;
};

/// The world whose records decide about a case, and whether that case is to blame if this world failed: no rank ran any
/// other case there.
template <typename World>
struct DecidingWorld {
  std::shared_ptr<const World> world;
  bool to_blame = false;
};

/// Performs the cases in as few worlds as possible, such that no case fails because of another: one that throws, hangs
/// or ends its process fails alone, and those after it get a new world. If a case comes through only in a new world,
/// those before it are performed again; if a world failed after its last case, or its records were overwritten, each
/// half of the cases is performed again, until the failure belongs to one case.
/// `perform` runs cases in a new world; World has came_through() and ok(), which is false if the world failed in any
/// way.
/// Returns   one element for each case, in order
template <typename World>
std::vector<DecidingWorld<World>> perform_apart(const std::vector<Case>& cases,
                                                const std::function<World(const std::vector<Case>&)>& perform) {
  using Deciding = std::vector<DecidingWorld<World>>;
  if (cases.empty()) return {};
  const auto part = [&](std::size_t begin, std::size_t end) {
    return std::vector<Case>(cases.begin() + static_cast<std::ptrdiff_t>(begin),
                             cases.begin() + static_cast<std::ptrdiff_t>(end));
  };
  const auto append = [](Deciding& all, Deciding more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
  };
  const auto world = std::make_shared<const World>(perform(cases));
  const auto stopped = static_cast<std::size_t>(
      std::find_if(cases.begin(), cases.end(), [&](const Case& one) { return !world->came_through(one); }) -
      cases.begin());
  if (stopped == cases.size() && world->ok() && world->intact) return Deciding(cases.size(), {world, false});
  if (cases.size() == 1) return {{world, true}};
  if (stopped == cases.size() || !world->intact) {
    Deciding all = perform_apart(part(0, cases.size() / 2), perform);
    append(all, perform_apart(part(cases.size() / 2, cases.size()), perform));
    return all;
  }
  if (stopped == 0) {
    // A rank that is ahead of the others may have failed in a later case and taken them with it.
    Deciding all = world->some_rank_left(cases[0]) ? perform_apart(part(0, 1), perform) : Deciding{{world, true}};
    append(all, perform_apart(part(1, cases.size()), perform));
    return all;
  }
  const std::vector<Case> before = part(0, stopped);
  Deciding after = perform_apart(part(stopped, cases.size()), perform);
  const bool innocent = after.front().world->came_through(cases[stopped]);
  Deciding all = innocent ? perform_apart(before, perform) : Deciding(stopped, {world, false});
  append(all, std::move(after));
  return all;
}

}  // namespace lab
