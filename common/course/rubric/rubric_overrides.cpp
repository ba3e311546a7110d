#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/base/errors.h"
#include "common/base/text.h"
#include "common/course/rubric/rubric.h"
#include "common/course/rubric/rubric_check.h"
#include "common/course/rubric/rubric_items.h"
#include "common/course/rubric/toml_table.h"

namespace lab {
namespace {

/// The part of an instructor's file that is about the lab, if there is one.
std::optional<TomlTable> part_for(const std::string& lab, const TomlTable& file) {
  if (file.has("lab")) {
    file.require_known({"lab", "task", "manual", "ladder", "bonus", "judging"});
    return file.string("lab") == lab ? std::optional(file) : std::nullopt;
  }
  for (const std::string& key : file.keys()) {
    if (key != lab && nearest(key, {lab})) {
      throw UsageError(fmt::format("{}: there is no lab '{}'; did you mean '{}'?", file.place(), key, lab));
    }
  }
  const auto part = file.table(lab);
  if (part) part->require_known({"task", "manual", "ladder", "bonus", "judging"});
  return part;
}

/// Applies the overrides one by one: each table with the item that it names.
template <typename Item, typename Change>
void change_items(const TomlTable& part, const std::string& key, std::vector<Item>& items,
                  std::map<std::string, std::string>& places, const Change& change) {
  std::set<std::string> seen;
  for (const TomlTable& table : part.tables(key)) {
    const std::string id = table.string("id");
    const auto found = std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.id == id; });
    if (found == items.end()) {
      std::vector<std::string> ids;
      for (const Item& item : items) ids.push_back(item.id);
      const auto meant = nearest(id, ids);
      throw UsageError(fmt::format("{}: there is no [[{}]] '{}'{}", table.place(), key, id,
                                   meant ? fmt::format("; did you mean '{}'?", *meant) : ""));
    }
    if (!seen.insert(id).second) throw UsageError(fmt::format("{}: {} is changed twice", table.place(), id));
    places[id] = table.place();
    change(table, *found);
  }
}

void change_task(const TomlTable& table, RubricTask& task) {
  table.require_known({"id", "marks", "bonus", "needs", "all_or_nothing"});
  task.marks = table.number("marks", task.marks);
  task.bonus = table.boolean("bonus", task.bonus);
  task.all_or_nothing = table.boolean("all_or_nothing", task.all_or_nothing);
  if (table.has("needs")) task.needs = table.strings("needs");
  if (task.needs.empty()) {
    task.stand_in.clear();
    task.judges_cost_of.clear();
  }
}

void change_manual(const TomlTable& table, RubricManual& manual) {
  table.require_known({"id", "marks"});
  manual.marks = table.number("marks", manual.marks);
}

/// The rungs keep their share of the total.
void change_ladder(const TomlTable& table, RubricLadder& ladder) {
  table.require_known({"id", "marks"});
  const double marks = table.number("marks", ladder.total);
  for (RubricRung& rung : ladder.rungs) rung.marks = rung.marks / ladder.total * marks;
  ladder.total = ladder.rungs.back().marks;
}

void change_bonus(const TomlTable& table, RubricBonus& bonus) {
  table.require_known({"id", "marks", "needs", "any_of"});
  bonus.marks = table.number("marks", bonus.marks);
  if (table.has("needs")) bonus.needs = table.strings("needs");
  if (table.has("any_of")) bonus.any_of = table.strings("any_of");
}

}  // namespace

Rubric with_overrides(const Rubric& rubric, const std::string& path) {
  const auto part = part_for(rubric.lab, TomlTable::load(path));
  if (!part) return rubric;
  Rubric changed = rubric;
  std::map<std::string, std::string> places;
  change_items(*part, "task", changed.tasks, places, change_task);
  change_items(*part, "manual", changed.manuals, places, change_manual);
  change_items(*part, "ladder", changed.ladders, places, change_ladder);
  change_items(*part, "bonus", changed.bonuses, places, change_bonus);
  if (const auto judging = part->table("judging")) changed.judging = read_judging(*judging, changed.judging);
  changed.total = marks_without_bonus(changed);
  changed.bonus_total = bonus_marks(changed);
  check_rubric(changed, [&](const std::string& id) { return places.count(id) != 0 ? places.at(id) : path; });
  return changed;
}

}  // namespace lab
