#include "grading/marks/manual_marks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "common/course/toml_table.h"
#include "common/report/atomic_file.h"
#include "common/report/errors.h"
#include "common/report/nearest.h"
#include "common/report/one_line.h"
#include "common/report/utf8.h"
#include "grading/marks/manual_item.h"
#include "grading/marks/shown_marks.h"

namespace lab::grading {
namespace {

const RubricManual& manual_named(const std::string& id, const Rubric& rubric, const TomlTable& table) {
  std::vector<std::string> ids;
  for (const RubricManual& manual : rubric.manuals) {
    if (manual.id == id) return manual;
    ids.push_back(manual.id);
  }
  const std::optional<std::string> meant = nearest(id, ids);
  throw UsageError(fmt::format("{}: {} has no manual item '{}'{}", table.place(), rubric.lab, id,
                               meant         ? fmt::format("; did you mean '{}'?", *meant)
                               : ids.empty() ? std::string("; it has none at all")
                                             : fmt::format("; expected one of {}", fmt::join(ids, ", "))));
}

std::optional<ManualMark> mark_in(const TomlTable& table, const Rubric& rubric) {
  table.require_known({"id", "marks", "comment"});
  const RubricManual& manual = manual_named(table.string("id"), rubric, table);
  if (!table.has("marks")) return std::nullopt;
  const ManualMark mark = {manual.id, table.number("marks"), table.string("comment", "")};
  if (mark.marks < 0 || mark.marks > most_marks(manual)) {
    throw UsageError(fmt::format("{}: '{}' has {} marks, expected 0 to {}", table.place(), mark.id, mark.marks,
                                 shown_marks(most_marks(manual))));
  }
  return mark;
}

/// `# name: words`, on one line whatever the words hold; nothing for no words.
std::string comment_line(const std::string& name, const std::string& words) {
  constexpr std::size_t kMaxBytes = 4000;
  return words.empty() ? "" : fmt::format("# {}: {}\n", name, safe_text(one_line(words), kMaxBytes));
}

std::string form_of(const RubricManual& manual, const MarkedItem* item) {
  std::string form = fmt::format("\n[[manual]]\nid = \"{}\"\n", manual.id) + comment_line("title", manual.title) +
                     comment_line("look for", manual.look_for);
  if (item != nullptr) {
    form += comment_line("handed in",
                         item->attached.empty() ? "nothing" : fmt::format("{}", fmt::join(item->attached, ", ")));
    form += comment_line("suggestion", item->suggestion);
  }
  return form +
         (manual.marks > 0 ? fmt::format("# marks =  # 0 to {}\n", shown_marks(manual.marks))
                           : "# marks =  # 1: met, 0: not met; a ladder counts it, or nothing does\n") +
         "comment = \"\"\n";
}

}  // namespace

std::vector<ManualMark> load_manual_marks(const std::string& path, const Rubric& rubric) {
  if (!std::filesystem::exists(path)) return {};
  const TomlTable file = TomlTable::load(path);
  file.require_known({"manual"});
  std::vector<std::string> seen;
  std::vector<ManualMark> marks;
  for (const TomlTable& table : file.tables("manual")) {
    const std::optional<ManualMark> mark = mark_in(table, rubric);
    const std::string id = table.string("id");
    if (std::find(seen.begin(), seen.end(), id) != seen.end())
      throw UsageError(fmt::format("{}: '{}' is marked twice", table.place(), id));
    seen.push_back(id);
    if (mark) marks.push_back(*mark);
  }
  return marks;
}

void write_manual_form(const std::string& path, const Rubric& rubric, const LabMarks& marks) {
  if (rubric.manuals.empty() || std::filesystem::exists(std::filesystem::symlink_status(path))) return;
  std::string form =
      "# Marks by hand. Take the # from a line with marks, put a number behind the =, and grade again: this file is\n"
      "# read each time, and never written again. Without marks an item stays pending.\n";
  for (const RubricManual& manual : rubric.manuals) {
    const auto item = std::find_if(marks.items.begin(), marks.items.end(), [&](const MarkedItem& one) {
      return one.kind == MarkedItem::Kind::kManual && one.id == manual.id;
    });
    form += form_of(manual, item == marks.items.end() ? nullptr : &*item);
  }
  write_file_atomically(path, form);
}

}  // namespace lab::grading
