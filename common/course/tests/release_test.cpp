#include "common/course/rubric/release.h"

#include "common/course/rubric/rubric.h"
#include "common/testing/plain_test.h"

namespace lab {
namespace {

Rubric a_rubric() {
  Rubric rubric;
  rubric.tasks.resize(2);
  rubric.tasks[0].id = "b1.pipe";
  rubric.tasks[1].id = "b1.tap";
  rubric.tasks[1].visibility = Visibility::kAfterPublished;
  rubric.manuals.resize(1);
  rubric.manuals[0].id = "b1.text";
  rubric.ladders.resize(1);
  rubric.ladders[0].id = "b1.ladder";
  rubric.bonuses.resize(1);
  rubric.bonuses[0].id = "b1.bonus";
  const Moment first = *moment_in("2026-12-01T18:00+01:00"), second = *moment_in("2026-12-02T18:00+01:00");
  rubric.releases = {{first, {"b1.pipe", "seed", "b1.text"}}, {second, {"Flows", "b1.tap", "b1.ladder", "b1.bonus"}}};
  return rubric;
}

std::string hidden_at(const char* now) {
  const Rubric rubric = as_of(a_rubric(), *moment_in(now));
  std::string hidden = std::to_string(rubric.releases.size()) + ":";
  const auto add = [&](const auto& items) {
    for (const auto& item : items) {
      if (item.visibility == Visibility::kHidden) hidden += " " + item.id;
    }
  };
  add(rubric.tasks);
  add(rubric.manuals);
  add(rubric.ladders);
  add(rubric.bonuses);
  return hidden;
}

TEST_CASE("what is released later is hidden until that moment, and not a second longer") {
  CHECK(hidden_at("2026-11-25T00:00Z") == "2: b1.pipe b1.tap b1.text b1.ladder b1.bonus");
  CHECK(hidden_at("2026-12-01T16:59:59Z") == "2: b1.pipe b1.tap b1.text b1.ladder b1.bonus");
  CHECK(hidden_at("2026-12-01T17:00:00Z") == "1: b1.tap b1.ladder b1.bonus");
  CHECK(hidden_at("2026-12-02T09:00-08:00") == "0:");
}

TEST_CASE("what is released keeps the visibility that it has anyway") {
  CHECK(as_of(a_rubric(), *moment_in("2027-01-01T00:00Z")).tasks[1].visibility == Visibility::kAfterPublished);
}

TEST_CASE("names that are no item are those of checks") {
  CHECK(releasable(a_rubric()) ==
        std::vector<std::string>{"seed", "b1.pipe", "b1.tap", "b1.text", "b1.ladder", "b1.bonus"});
  CHECK(released_checks(a_rubric()) == std::vector<std::string>{"Flows"});
}

}  // namespace
}  // namespace lab
