#include "common/course/rubric/release.h"

#include <algorithm>

#include "common/course/rubric/rubric.h"

namespace lab {
namespace {

/// Calls body with each item's id and visibility.
template <typename Body>
void for_each_item(Rubric& rubric, const Body& body) {
  for (RubricTask& task : rubric.tasks) body(task.id, task.visibility);
  for (RubricManual& manual : rubric.manuals) body(manual.id, manual.visibility);
  for (RubricLadder& ladder : rubric.ladders) body(ladder.id, ladder.visibility);
  for (RubricBonus& bonus : rubric.bonuses) body(bonus.id, bonus.visibility);
}

}  // namespace

Rubric as_of(Rubric rubric, const Moment& now) {
  auto& releases = rubric.releases;
  releases.erase(std::remove_if(releases.begin(), releases.end(),
                                [&](const RubricRelease& release) { return !(now < release.at); }),
                 releases.end());
  for (const RubricRelease& release : releases) {
    for_each_item(rubric, [&](const std::string& id, Visibility& visibility) {
      if (std::find(release.what.begin(), release.what.end(), id) != release.what.end())
        visibility = Visibility::kHidden;
    });
  }
  return rubric;
}

std::vector<std::string> releasable(const Rubric& rubric) {
  std::vector<std::string> names = {kReleasedSeed};
  Rubric items = rubric;
  for_each_item(items, [&](const std::string& id, Visibility&) { names.push_back(id); });
  return names;
}

std::vector<std::string> released_checks(const Rubric& rubric) {
  const std::vector<std::string> others = releasable(rubric);
  std::vector<std::string> checks;
  for (const RubricRelease& release : rubric.releases) {
    for (const std::string& what : release.what) {
      if (std::find(others.begin(), others.end(), what) == others.end()) checks.push_back(what);
    }
  }
  return checks;
}

}  // namespace lab
