#include <map>

#include "common/course/rubric/rubric.h"
#include "common/course/rubric/rubric_check.h"
#include "common/course/rubric/rubric_items.h"
#include "common/course/rubric/toml_table.h"

namespace lab {
namespace {

/// Reads all [[key]] tables, and remembers where each item is.
template <typename Item>
std::vector<Item> read_items(const TomlTable& file, const std::string& key, Item (*read)(const TomlTable&),
                             std::map<std::string, std::string>& places) {
  std::vector<Item> items;
  for (const TomlTable& table : file.tables(key)) {
    items.push_back(read(table));
    places[items.back().id] = table.place();
  }
  return items;
}

}  // namespace

Rubric load_rubric(const std::string& path) {
  const TomlTable file = TomlTable::load(path);
  file.require_known({"lab", "title", "total", "bonus_total", "marks_source", "hand_in", "judging", "task", "manual",
                      "ladder", "bonus"});
  Rubric rubric;
  rubric.lab = file.string("lab");
  rubric.title = file.string("title");
  rubric.total = file.number("total");
  rubric.bonus_total = file.number("bonus_total", 0);
  rubric.marks_source = file.string("marks_source", "");

  std::map<std::string, std::string> places = {{"", path}};
  rubric.tasks = read_items(file, "task", read_task, places);
  rubric.manuals = read_items(file, "manual", read_manual, places);
  rubric.ladders = read_items(file, "ladder", read_ladder, places);
  rubric.bonuses = read_items(file, "bonus", read_bonus, places);
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
  check_rubric(rubric, [&](const std::string& id) { return places.count(id) != 0 ? places.at(id) : path; });
  return rubric;
}

}  // namespace lab
