#include "common/course/rubric/rubric_items.h"

#include <algorithm>

namespace lab {
namespace {

RubricRung read_rung(const TomlTable& table) {
  table.require_known({"marks", "title", "needs", "any_of"});
  RubricRung rung;
  rung.marks = table.number("marks");
  rung.title = table.string("title");
  rung.needs = table.strings("needs");
  rung.any_of = table.strings("any_of");
  return rung;
}

}  // namespace

RubricTask read_task(const TomlTable& table) {
  table.require_known({"id", "title", "file", "read", "marks", "bonus", "all_or_nothing", "needs", "stand_in",
                       "judges_cost_of", "hints"});
  RubricTask task;
  task.id = table.string("id");
  task.title = table.string("title");
  task.file = table.string("file");
  task.read = table.string("read", "");
  task.marks = table.number("marks", 0);
  task.bonus = table.boolean("bonus", false);
  task.all_or_nothing = table.boolean("all_or_nothing", false);
  task.needs = table.strings("needs");
  task.stand_in = table.strings("stand_in");
  task.judges_cost_of = table.strings("judges_cost_of");
  task.hints = table.strings("hints");
  return task;
}

RubricManual read_manual(const TomlTable& table) {
  table.require_known({"id", "title", "file", "also", "marks", "look_for"});
  RubricManual manual;
  manual.id = table.string("id");
  manual.title = table.string("title");
  manual.file = table.string("file");
  manual.also = table.strings("also");
  manual.marks = table.number("marks", 0);
  manual.look_for = table.string("look_for", "");
  return manual;
}

RubricLadder read_ladder(const TomlTable& table) {
  table.require_known({"id", "title", "total", "rung"});
  RubricLadder ladder;
  ladder.id = table.string("id");
  ladder.title = table.string("title");
  ladder.total = table.number("total");
  for (const TomlTable& rung : table.tables("rung")) ladder.rungs.push_back(read_rung(rung));
  return ladder;
}

RubricBonus read_bonus(const TomlTable& table) {
  table.require_known({"id", "title", "marks", "needs", "any_of"});
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

RubricJudging read_judging(const TomlTable& table, const RubricJudging& before) {
  table.require_known({"ranks", "stall_seconds"});
  RubricJudging judging = before;
  judging.stall_seconds = table.number("stall_seconds", before.stall_seconds);
  if (!table.has("ranks")) return judging;
  judging.ranks.clear();
  for (const std::int64_t size : table.integers("ranks")) {
    constexpr std::int64_t kTooMany = 1 << 20;  // check_rubric() knows the real bound
    judging.ranks.push_back(static_cast<int>(std::clamp<std::int64_t>(size, 0, kTooMany)));
  }
  return judging;
}

}  // namespace lab
