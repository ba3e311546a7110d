#include "common/course/rubric/rubric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "common/api/errors.h"
#include "common/base/option_value.h"
#include "common/base/text.h"
#include "common/course/rubric/rubric_check.h"
#include "common/course/rubric/toml_table.h"

namespace lab {
namespace {

// A rubric's tables, each read into its item; unknown keys are refused. None of them looks at another item.

RubricRung read_rung(const TomlTable& table) {
  table.require_known({"marks", "title", "needs", "any_of"});
  RubricRung rung;
  rung.marks = table.number("marks");
  rung.title = table.string("title");
  rung.needs = table.strings("needs");
  rung.any_of = table.strings("any_of");
  return rung;
}

RubricTask read_task(const TomlTable& table) {
  table.require_known({"id", "title", "teaches", "file", "read", "marks", "bonus", "all_or_nothing", "needs",
                       "stand_in", "judges_cost", "hints", "asked", "visibility"});
  RubricTask task;
  task.id = table.string("id");
  task.title = table.string("title");
  task.teaches = table.string("teaches", "");
  task.file = table.string("file");
  task.read = table.string("read", "");
  task.marks = table.number("marks", 0);
  task.bonus = table.boolean("bonus", false);
  task.all_or_nothing = table.boolean("all_or_nothing", false);
  task.needs = table.strings("needs");
  task.stand_in = table.strings("stand_in");
  task.judges_cost = table.strings("judges_cost");
  task.hints = table.strings("hints");
  task.asked = table.boolean("asked", true);
  return task;
}

RubricNumber read_number(const TomlTable& table) {
  table.require_known({"name", "handout", "from", "to"});
  const auto integer = [&](const std::string& key) {
    const double number = table.number(key);
    constexpr double kMost = 1e6;
    if (number != std::floor(number) || std::abs(number) > kMost)
      throw UsageError(
          fmt::format("{}: {}: expected an integer from {} to {}, got {}", table.place(), key, -kMost, kMost, number));
    return static_cast<int>(number);
  };
  return {table.string("name"), integer("handout"), integer("from"), integer("to")};
}

RubricManual read_manual(const TomlTable& table) {
  table.require_known(
      {"id", "title", "teaches", "file", "also", "marks", "bonus", "look_for", "question", "numbers", "visibility"});
  RubricManual manual;
  manual.id = table.string("id");
  manual.title = table.string("title");
  manual.teaches = table.string("teaches", "");
  manual.file = table.string("file");
  manual.also = table.strings("also");
  manual.marks = table.number("marks", 0);
  manual.bonus = table.boolean("bonus", false);
  manual.look_for = table.string("look_for", "");
  manual.question = table.string("question", "");
  for (const TomlTable& number : table.tables("numbers")) manual.numbers.push_back(read_number(number));
  return manual;
}

RubricLadder read_ladder(const TomlTable& table) {
  table.require_known({"id", "title", "total", "rung", "visibility"});
  RubricLadder ladder;
  ladder.id = table.string("id");
  ladder.title = table.string("title");
  ladder.total = table.number("total");
  for (const TomlTable& rung : table.tables("rung")) ladder.rungs.push_back(read_rung(rung));
  return ladder;
}

RubricBonus read_bonus(const TomlTable& table) {
  table.require_known({"id", "title", "marks", "needs", "any_of", "visibility"});
  RubricBonus bonus;
  bonus.id = table.string("id");
  bonus.title = table.string("title");
  bonus.marks = table.number("marks");
  bonus.needs = table.strings("needs");
  bonus.any_of = table.strings("any_of");
  return bonus;
}

RubricHandIn read_hand_in(const TomlTable& table) {
  table.require_known({"sources", "answers", "run", "snippets_in"});
  return {table.strings("sources"), table.strings("answers"), table.string("run", ""), table.string("snippets_in", "")};
}

std::optional<std::vector<int>> read_sizes(const TomlTable& table, const std::string& key,
                                           const std::optional<std::vector<int>>& before) {
  if (!table.has(key)) return before;
  std::vector<int> sizes;
  for (const std::int64_t size : table.integers(key)) {
    constexpr std::int64_t kTooMany = 1 << 20;  // check_rubric() knows the real bound
    sizes.push_back(static_cast<int>(std::clamp<std::int64_t>(size, 0, kTooMany)));
  }
  return sizes;
}

/// Keys that the table does not have keep their values in `before`.
RubricJudging read_judging(const TomlTable& table, const RubricJudging& before = {}) {
  table.require_known({"ranks", "cheap_ranks", "stall_seconds", "budget_seconds"});
  RubricJudging judging;
  judging.ranks = read_sizes(table, "ranks", before.ranks);
  judging.cheap_ranks = read_sizes(table, "cheap_ranks", before.cheap_ranks);
  judging.stall_seconds = table.number("stall_seconds", before.stall_seconds);
  judging.budget_seconds = table.number("budget_seconds", before.budget_seconds);
  return judging;
}

/// The table's `visibility`, or without that `otherwise`.
Visibility read_visibility(const TomlTable& table, Visibility otherwise) {
  if (!table.has("visibility")) return otherwise;
  const std::string text = table.string("visibility");
  std::vector<std::string> names;
  for (const Visibility each :
       {Visibility::kVisible, Visibility::kHidden, Visibility::kAfterDueDate, Visibility::kAfterPublished}) {
    if (to_text(each) == text) return each;
    names.push_back(to_text(each));
  }
  throw UsageError(fmt::format("{}: visibility: expected {}, got {}{}", table.place(), option::listed(names),
                               option::quoted(text), did_you_mean(text, names)));
}

/// Reads all [[key]] tables, and remembers where each item is.
template <typename Item>
std::vector<Item> read_items(const TomlTable& file, const std::string& key, Item (*read)(const TomlTable&),
                             Visibility visibility, std::map<std::string, std::string>& places) {
  std::vector<Item> items;
  for (const TomlTable& table : file.tables(key)) {
    items.push_back(read(table));
    items.back().visibility = read_visibility(table, visibility);
    places[items.back().id] = table.place();
  }
  return items;
}

/// The part of an instructor's file that is about the lab, if there is one.
std::optional<TomlTable> part_for(const std::string& lab, const std::vector<std::string>& labs, const TomlTable& file) {
  std::vector<std::string> known = {"visibility", "task", "manual", "ladder", "bonus", "judging", "own_numbers"};
  if (!file.has("lab")) {
    file.require_known(labs);
    for (const std::string& key : file.keys()) file.table(key);  // refuses anything else
    const auto part = file.table(lab);
    if (part) part->require_known(known);
    return part;
  }
  known.emplace_back("lab");
  file.require_known(known);
  const std::string named = file.string("lab");
  if (std::find(labs.begin(), labs.end(), named) == labs.end())
    throw UsageError(
        fmt::format("{}: lab: expected {}, got {}", file.place(), option::listed(labs), option::quoted(named)));
  return named == lab ? std::optional(file) : std::nullopt;
}

/// Applies the overrides one by one: each table with the item that it names.
template <typename Item, typename Change>
void change_items(const TomlTable& part, const std::string& key, std::vector<Item>& items,
                  std::map<std::string, std::string>& places, const Change& change) {
  for (Item& item : items) item.visibility = read_visibility(part, item.visibility);
  std::set<std::string> seen;
  for (const TomlTable& table : part.tables(key)) {
    const std::string id = table.string("id");
    const auto found = std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.id == id; });
    if (found == items.end()) {
      std::vector<std::string> ids;
      for (const Item& item : items) ids.push_back(item.id);
      throw UsageError(fmt::format("{}: there is no [[{}]] '{}'{}", table.place(), key, id, did_you_mean(id, ids)));
    }
    if (!seen.insert(id).second) throw UsageError(fmt::format("{}: {} is changed twice", table.place(), id));
    places[id] = table.place();
    change(table, *found);
    found->visibility = read_visibility(table, found->visibility);
  }
}

void change_task(const TomlTable& table, RubricTask& task) {
  table.require_known({"id", "marks", "bonus", "needs", "all_or_nothing", "visibility"});
  task.marks = table.number("marks", task.marks);
  task.bonus = table.boolean("bonus", task.bonus);
  task.all_or_nothing = table.boolean("all_or_nothing", task.all_or_nothing);
  if (table.has("needs")) task.needs = table.strings("needs");
  if (task.needs.empty()) {
    task.stand_in.clear();
    task.judges_cost.clear();
  }
}

void change_manual(const TomlTable& table, RubricManual& manual) {
  table.require_known({"id", "marks", "bonus", "visibility"});
  manual.marks = table.number("marks", manual.marks);
  manual.bonus = table.boolean("bonus", manual.bonus);
}

/// The rungs keep their share of the total.
void change_ladder(const TomlTable& table, RubricLadder& ladder) {
  table.require_known({"id", "marks", "visibility"});
  const double marks = table.number("marks", ladder.total);
  for (RubricRung& rung : ladder.rungs) rung.marks = rung.marks / ladder.total * marks;
  ladder.total = ladder.rungs.back().marks;
}

void change_bonus(const TomlTable& table, RubricBonus& bonus) {
  table.require_known({"id", "marks", "needs", "any_of", "visibility"});
  bonus.marks = table.number("marks", bonus.marks);
  if (table.has("needs")) bonus.needs = table.strings("needs");
  if (table.has("any_of")) bonus.any_of = table.strings("any_of");
}

}  // namespace

namespace {

void remove_all(const std::set<std::string>& names, std::vector<std::string>& from) {
  from.erase(std::remove_if(from.begin(), from.end(), [&](const std::string& name) { return names.count(name) != 0; }),
             from.end());
}

/// Makes the tasks that are not asked `given`, and takes them out of what others need; and their files, if no other task
/// is in them, out of what is handed in or stood in for.
void take_out_given(Rubric& rubric) {
  const auto first_given = std::stable_partition(rubric.tasks.begin(), rubric.tasks.end(),
                                                 [](const RubricTask& task) { return task.asked; });
  rubric.given.assign(first_given, rubric.tasks.end());
  rubric.tasks.erase(first_given, rubric.tasks.end());
  std::set<std::string> ids, files;
  for (const RubricTask& task : rubric.given) {
    ids.insert(task.id);
    files.insert(task.file);
  }
  for (const RubricTask& task : rubric.tasks) files.erase(task.file);
  remove_all(files, rubric.hand_in.sources);
  for (RubricTask& task : rubric.tasks) {
    remove_all(ids, task.needs);
    for (std::vector<std::string>* paths : {&task.stand_in, &task.judges_cost}) {
      if (task.needs.empty()) paths->clear();
      remove_all(files, *paths);
    }
  }
  for (RubricLadder& ladder : rubric.ladders) {
    for (RubricRung& rung : ladder.rungs) remove_all(ids, rung.needs);
  }
  for (RubricBonus& bonus : rubric.bonuses) remove_all(ids, bonus.needs);
}

}  // namespace

std::string to_text(Visibility visibility) {
  switch (visibility) {
    case Visibility::kVisible: return "visible";
    case Visibility::kHidden: return "hidden";
    case Visibility::kAfterDueDate: return "after_due_date";
    case Visibility::kAfterPublished: return "after_published";
  }
  return "";
}

const RubricTask* Rubric::find_task(const std::string& id) const {
  const auto found = std::find_if(tasks.begin(), tasks.end(), [&](const RubricTask& task) { return task.id == id; });
  return found == tasks.end() ? nullptr : &*found;
}

std::vector<std::string> Rubric::find_dependents(const std::string& task) const {
  // Tasks may be in any order, so this repeats until nothing is added.
  std::set<std::string> found = {task};
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const RubricTask& other : tasks) {
      const bool builds_on_it = std::any_of(other.needs.begin(), other.needs.end(),
                                            [&](const std::string& need) { return found.count(need) != 0; });
      if (builds_on_it) found.insert(other.id);
    }
  }
  std::vector<std::string> dependents;
  for (const RubricTask& other : tasks) {
    if (other.id != task && found.count(other.id) != 0) dependents.push_back(other.id);
  }
  return dependents;
}

Rubric load_rubric(const std::string& path) {
  const TomlTable file = TomlTable::load(path);
  file.require_known({"lab", "title", "total", "marks_source", "own_numbers", "visibility", "hand_in", "judging",
                      "task", "manual", "ladder", "bonus"});
  Rubric rubric;
  rubric.lab = file.string("lab");
  rubric.title = file.string("title");
  rubric.total = file.number("total");
  rubric.marks_source = file.string("marks_source", "");
  rubric.own_numbers = file.string("own_numbers", "");

  const Visibility visibility = read_visibility(file, Visibility::kVisible);
  std::map<std::string, std::string> places = {{"", path}};
  rubric.tasks = read_items(file, "task", read_task, visibility, places);
  rubric.manuals = read_items(file, "manual", read_manual, visibility, places);
  rubric.ladders = read_items(file, "ladder", read_ladder, visibility, places);
  rubric.bonuses = read_items(file, "bonus", read_bonus, visibility, places);
  if (rubric.ladders.empty()) {
    // Without ladders, every item needs marks: missing ones were forgotten.
    for (const TomlTable& table : file.tables("task")) table.number("marks");
    for (const TomlTable& table : file.tables("manual")) table.number("marks");
  }
  if (const auto hand_in = file.table("hand_in")) {
    rubric.hand_in = read_hand_in(*hand_in);
    places["hand_in"] = hand_in->place();
  }
  if (const auto judging = file.table("judging")) {
    rubric.judging = read_judging(*judging);
    places["judging"] = judging->place();
  }
  take_out_given(rubric);
  rubric.bonus_total = bonus_marks(rubric);
  check_rubric(rubric, [&](const std::string& id) { return places.count(id) != 0 ? places.at(id) : path; });
  return rubric;
}

Rubric with_overrides(const Rubric& rubric, const std::string& path, const std::vector<std::string>& labs) {
  const std::optional<TomlTable> part = part_for(rubric.lab, labs, TomlTable::load(path));
  if (!part) return rubric;
  Rubric changed = rubric;
  std::map<std::string, std::string> places;
  change_items(*part, "task", changed.tasks, places, change_task);
  change_items(*part, "manual", changed.manuals, places, change_manual);
  change_items(*part, "ladder", changed.ladders, places, change_ladder);
  change_items(*part, "bonus", changed.bonuses, places, change_bonus);
  if (const auto judging = part->table("judging")) changed.judging = read_judging(*judging, changed.judging);
  changed.own_numbers = part->string("own_numbers", rubric.own_numbers);
  changed.total = marks_without_bonus(changed);
  changed.bonus_total = bonus_marks(changed);
  check_rubric(changed, [&](const std::string& id) { return places.count(id) != 0 ? places.at(id) : path; });
  return changed;
}

}  // namespace lab
