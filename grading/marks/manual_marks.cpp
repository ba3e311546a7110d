#include "grading/marks/manual_marks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/rubric/toml_table.h"
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
  table.require_known({"id", "marks", "comment", "hand_in"});
  const std::string id = table.string("id");
  const RubricManual& manual = manual_named(id, rubric, table);
  if (!table.has("marks")) return std::nullopt;
  const ManualMark mark = {manual.id, table.number("marks"), table.string("comment", ""), table.string("hand_in", "")};
  if (mark.marks < 0 || mark.marks > most_marks(manual)) {
    throw UsageError(fmt::format("{}: '{}' has {} marks, expected 0 to {}", table.place(), mark.id, mark.marks,
                                 shown_marks(most_marks(manual))));
  }
  return mark;
}

/// `# name: words`, always on one line; nothing if there are no words.
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
    if (item->marked_before) form += comment_line("before", item->words.back());
  }
  form += (manual.marks > 0 ? fmt::format("# marks =  # 0 to {}\n", shown_marks(manual.marks))
                            : "# marks =  # 1: met, 0: not met; a ladder counts it, or nothing does\n") +
          "comment = \"\"\n";
  return item == nullptr || item->version.empty() ? form : form + fmt::format("hand_in = \"{}\"\n", item->version);
}

const MarkedItem* item_of(const RubricManual& manual, const LabMarks& marks) {
  const auto item = std::find_if(marks.items.begin(), marks.items.end(), [&](const MarkedItem& one) {
    return one.kind == MarkedItem::Kind::kManual && one.id == manual.id;
  });
  return item == marks.items.end() ? nullptr : &*item;
}

/// Whether the file has a place for the marks of what is handed in now.
bool has_entry(const std::vector<TomlTable>& entries, const MarkedItem& item) {
  return std::any_of(entries.begin(), entries.end(), [&](const TomlTable& entry) {
    const std::string version = entry.string("hand_in", "");
    return entry.string("id") == item.id && (version == item.version || (version.empty() && !item.marked_before));
  });
}

}  // namespace

std::vector<ManualMark> load_manual_marks(const std::string& path, const Rubric& rubric) {
  if (!std::filesystem::exists(path)) return {};
  const TomlTable file = TomlTable::load(path);
  file.require_known({"manual"});
  std::set<std::pair<std::string, std::string>> seen;  // id, version
  std::set<std::string> versioned;
  std::vector<ManualMark> marks;
  for (const TomlTable& table : file.tables("manual")) {
    const std::optional<ManualMark> mark = mark_in(table, rubric);
    const std::string id = table.string("id"), version = table.string("hand_in", "");
    if (!seen.insert({id, version}).second)
      throw UsageError(fmt::format("{}: '{}' is marked twice", table.place(), id));
    if (!version.empty()) versioned.insert(id);
    if (mark) marks.push_back(*mark);
  }
  for (ManualMark& mark : marks) {
    if (mark.hand_in.empty() && versioned.count(mark.id) != 0) mark.hand_in = "older";
  }
  return marks;
}

void tie_to(const std::map<std::string, std::string>& answers, const Rubric& rubric, std::vector<ManualMark>& marks) {
  for (const RubricManual& manual : rubric.manuals) {
    for (ManualMark& mark : marks) {
      if (mark.id == manual.id && mark.hand_in.empty()) mark.hand_in = version_of(rubric, manual, answers);
    }
  }
}

void write_manual_form(const std::string& path, const Rubric& rubric, const LabMarks& marks) {
  if (rubric.manuals.empty()) return;
  const bool is_there = std::filesystem::exists(std::filesystem::symlink_status(path));
  const std::vector<TomlTable> entries = is_there ? TomlTable::load(path).tables("manual") : std::vector<TomlTable>();
  std::string form = is_there
                         ? read_file(path)
                         : "# Marks by hand. Take the # from a line with marks, put a number after the =, and run\n"
                           "# `lab marks` or `lab grade` again: both read this file. Without marks an item stays\n"
                           "# pending. `hand_in` names the version of the student's files that marks are for: where\n"
                           "# these change, an entry for the new version is added below, and nothing else changed.\n";
  const std::string before = form;
  for (const RubricManual& manual : rubric.manuals) {
    const MarkedItem* item = item_of(manual, marks);
    if (!is_there || (item != nullptr && !has_entry(entries, *item))) form += form_of(manual, item);
  }
  if (!is_there || form != before) write_file_atomically(path, form);
}

}  // namespace lab::grading
