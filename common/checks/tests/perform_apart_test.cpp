#include <algorithm>
#include <map>
#include <string>

#include "common/checks/check_run.h"
#include "common/testing/test.h"

namespace lab::testing {
namespace {

using Names = std::vector<std::string>;

/// What a case does to its world: nothing; it throws; it leaves a message that is found when the world closes; it makes
/// the next case throw; it overwrites all records; or rank 1 throws in it while rank 0 is still in the case before.
enum class Does { kReturns, kThrows, kLitters, kHarmsTheNext, kErasesRecords, kThrowsAhead };

Names list_names(const std::vector<Case>& cases) {
  Names names;
  for (const Case& one : cases) names.push_back(one.name);
  return names;
}

/// perform_apart() of cases with these behaviours, in the map's order. A world of two ranks, without student code, has
/// the names of the cases that it ran in its rank_lines.
struct Runs {
  std::map<std::string, Does> does;
  std::vector<Names> worlds;  ///< what each was asked to run

  std::vector<DecidingWorld> apart() {
    std::vector<Case> cases(does.size());
    std::size_t next = 0;
    for (const auto& [name, unused] : does) {
      cases[next].once = "as one call shows it";
      cases[next++].name = name;
    }
    return perform_apart(cases, [&](const std::vector<Case>& some) { return perform(some); });
  }

  RecordedWorld perform(const std::vector<Case>& cases) {
    worlds.push_back(list_names(cases));
    RecordedWorld world;
    world.by_rank.resize(2);
    bool harmed = false;
    for (const Case& one : cases) {
      const Does act = does.at(one.name);
      CaseRecord record;
      record.name = one.name;
      const bool throws = harmed || act == Does::kThrows || act == Does::kThrowsAhead;
      if (throws) record.end = CaseEnd::kThrew;
      world.rank_lines.push_back(one.name);
      const bool is_behind = act == Does::kThrowsAhead && !world.by_rank[0].empty();
      if (is_behind) world.by_rank[0].back().end = CaseEnd::kThrew;
      if (!is_behind) world.by_rank[0].push_back(record);
      world.by_rank[1].push_back(record);
      if (throws || act == Does::kLitters) world.failure = launch::RankFailure{1, one.name};
      if (throws) break;
      harmed = act == Does::kHarmsTheNext;
      if (act != Does::kErasesRecords) continue;
      world.intact = false;
      for (std::vector<CaseRecord>& records : world.by_rank) records.clear();
    }
    return world;
  }
};

/// The cases that are to blame for the end of their worlds.
Names blamed(const Runs& runs, const std::vector<DecidingWorld>& deciding) {
  Names names;
  std::size_t next = 0;
  for (const auto& [name, unused] : runs.does) {
    const auto& [world, to_blame] = deciding[next++];
    CHECK(std::find(world->rank_lines.begin(), world->rank_lines.end(), name) != world->rank_lines.end());
    if (to_blame && (world->failure || !world->intact)) names.push_back(name);
  }
  return names;
}

TEST_CASE("cases share a world as long as nothing goes wrong") {
  Runs runs{{{"a", Does::kReturns}, {"b", Does::kReturns}, {"c", Does::kReturns}}, {}};
  const auto deciding = runs.apart();
  CHECK(runs.worlds == std::vector<Names>{{"a", "b", "c"}});
  CHECK(blamed(runs, deciding).empty());
}

TEST_CASE("a case that throws is performed again in a new world, in which the others go on") {
  Runs runs{{{"a", Does::kReturns}, {"b", Does::kThrows}, {"c", Does::kReturns}, {"d", Does::kThrows}}, {}};
  const auto deciding = runs.apart();
  CHECK(blamed(runs, deciding) == Names{"b", "d"});
  CHECK(runs.worlds == std::vector<Names>{{"a", "b", "c", "d"}, {"b", "c", "d"}, {"c", "d"}, {"d"}});
  CHECK(deciding[0].world->failure.has_value());  // because of b
  CHECK_FALSE(deciding[0].to_blame);
}

TEST_CASE("every case that throws is to blame for its own world, and for no other") {
  Runs runs{{{"a", Does::kThrows}, {"b", Does::kThrows}, {"c", Does::kThrows}}, {}};
  const auto deciding = runs.apart();
  CHECK(blamed(runs, deciding) == Names{"a", "b", "c"});
  CHECK(runs.worlds.size() == 3);
}

TEST_CASE("a rank that fails ahead of the others does not put the blame on the case that they are still in") {
  Runs runs{{{"a", Does::kReturns}, {"b", Does::kReturns}, {"c", Does::kThrowsAhead}, {"d", Does::kReturns}}, {}};
  const auto deciding = runs.apart();
  CHECK(blamed(runs, deciding) == Names{"c"});
  CHECK_FALSE(deciding[1].world->failure);
}

TEST_CASE("what is found only when a world closes is traced to its case") {
  Runs runs{{{"a", Does::kReturns}, {"b", Does::kReturns}, {"c", Does::kLitters}, {"d", Does::kReturns}}, {}};
  CHECK(blamed(runs, runs.apart()) == Names{"c"});
  CHECK(runs.worlds == std::vector<Names>{{"a", "b", "c", "d"}, {"a", "b"}, {"c", "d"}, {"c"}, {"d"}});
}

TEST_CASE("a case that only threw after another one is right, and that other is performed again") {
  Runs runs{{{"a", Does::kHarmsTheNext}, {"b", Does::kReturns}, {"c", Does::kReturns}}, {}};
  const auto deciding = runs.apart();
  CHECK(blamed(runs, deciding).empty());
  CHECK(runs.worlds == std::vector<Names>{{"a", "b", "c"}, {"b", "c"}, {"a"}});
}

TEST_CASE("a case that writes over the records of others is to blame, not the first of them") {
  Runs runs{{{"a", Does::kReturns}, {"b", Does::kReturns}, {"c", Does::kErasesRecords}, {"d", Does::kReturns}}, {}};
  const auto deciding = runs.apart();
  CHECK(blamed(runs, deciding) == Names{"c"});
  CHECK(deciding[0].world->rank_lines == Names{"a", "b"});
  CHECK(deciding[3].world->rank_lines == Names{"d"});
}

TEST_CASE("no case, no world") {
  Runs runs;
  CHECK(runs.apart().empty());
  CHECK(runs.worlds.empty());
}

}  // namespace
}  // namespace lab::testing
