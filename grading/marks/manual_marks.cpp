#include "grading/marks/manual_marks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/rubric/toml_table.h"
#include "common/course/starter/snippets.h"
#include "common/course/starter/starter_tree.h"
#include "grading/marks/shown_marks.h"

namespace lab::grading {
namespace {

std::vector<std::string> list_files(const RubricManual& manual) {
  std::vector<std::string> files = {manual.file};
  files.insert(files.end(), manual.also.begin(), manual.also.end());
  return files;
}

void mark_by_hand(const RubricManual& manual, const ManualMark& mark, MarkedItem& item) {
  if (manual.marks > 0) item.marks = mark.marks;  // else a ladder counts it
  item.worth = mark.marks >= most_marks(manual) ? Worth::kPassed : mark.marks > 0 ? Worth::kPartly : Worth::kFailed;
  if (!mark.comment.empty()) item.findings.push_back(mark.comment);
}

const RubricManual& manual_named(const std::string& id, const Rubric& rubric, const TomlTable& table) {
  std::vector<std::string> ids;
  for (const RubricManual& manual : rubric.manuals) {
    if (manual.id == id) return manual;
    ids.push_back(manual.id);
  }
  const std::string meant = did_you_mean(id, ids);
  throw UsageError(fmt::format("{}: {} has no manual item '{}'{}", table.place(), rubric.lab, id,
                               !meant.empty() ? meant
                               : ids.empty()  ? std::string("; it has none at all")
                                              : fmt::format("; expected one of {}", fmt::join(ids, ", "))));
}

std::optional<ManualMark> mark_in(const TomlTable& table, const Rubric& rubric) {
  table.require_known({"id", "marks", "comment", "hand_in"});
  const std::string id = table.string("id");
  const RubricManual& manual = manual_named(id, rubric, table);
  if (!table.has("marks")) return std::nullopt;
  const ManualMark mark = {manual.id, table.number("marks"), table.string("comment", ""), table.string("hand_in")};
  if (mark.marks < 0 || mark.marks > most_marks(manual)) {
    throw UsageError(fmt::format("{}: '{}' has {} marks, expected 0 to {}", table.place(), mark.id, mark.marks,
                                 shown_marks(most_marks(manual))));
  }
  return mark;
}

/// `# name: words`, always on one line; nothing if there are no words.
std::string comment_line(const std::string& name, const std::string& text) {
  constexpr std::size_t kMaxBytes = 4000;
  return text.empty() ? "" : fmt::format("# {}: {}\n", name, safe_text(one_line(text), kMaxBytes));
}

std::string describe_form(const RubricManual& manual, const MarkedItem& item) {
  std::string form = fmt::format("\n[[manual]]\nid = \"{}\"\n", manual.id) + comment_line("title", manual.title) +
                     comment_line("look for", manual.look_for);
  form +=
      comment_line("handed in", item.attached.empty() ? "nothing" : fmt::format("{}", fmt::join(item.attached, ", ")));
  form += comment_line("question", item.question);
  if (item.marked_before) form += comment_line("before", item.findings.back());
  form += manual.marks > 0 ? fmt::format("# marks =  # 0 to {}\n", shown_marks(manual.marks))
                           : "# marks =  # 1: met, 0: not met; a ladder counts it, or nothing does\n";
  return form + fmt::format("comment = \"\"\nhand_in = \"{}\"\n", item.version);
}

const MarkedItem& find_item(const RubricManual& manual, const LabMarks& marks) {
  return *std::find_if(marks.items.begin(), marks.items.end(), [&](const MarkedItem& one) {
    return one.kind == MarkedItem::Kind::kManual && one.id == manual.id;
  });
}

/// Whether the file has a place for the marks of what is handed in now.
bool has_entry(const std::vector<TomlTable>& entries, const MarkedItem& item) {
  return std::any_of(entries.begin(), entries.end(), [&](const TomlTable& entry) {
    return entry.string("id") == item.id && entry.string("hand_in") == item.version;
  });
}

}  // namespace

double most_marks(const RubricManual& manual) {
  return manual.marks > 0 ? manual.marks : 1;
}

std::string find_version(const Rubric& rubric, const RubricManual& manual,
                         const std::map<std::string, std::string>& answers) {
  std::string all;
  for (const std::string& name : list_files(manual)) {
    const auto file = answers.find(name);
    if (file == answers.end()) continue;
    all += name + "\n" + (name == rubric.hand_in.snippets_in ? without_snippets(file->second) : file->second);
  }
  return all.empty() ? "nothing" : compute_fingerprint(all);
}

MarkedItem mark_manual(const Rubric& rubric, const RubricManual& manual, const LabOutcome& outcome,
                       const std::vector<ManualMark>& by_hand) {
  MarkedItem item;
  item.id = manual.id;
  item.title = manual.title;
  item.kind = MarkedItem::Kind::kManual;
  item.out_of = manual.marks;
  item.bonus = manual.bonus;
  item.visibility = manual.visibility;
  item.version = find_version(rubric, manual, outcome.answers);
  for (const std::string& file : list_files(manual)) {
    if (outcome.answers.count(file) != 0) item.attached.push_back(file);
  }
  const QuestionNumbers numbers = read_numbers(rubric, manual, outcome.student);
  if (!rubric.own_numbers.empty() && !numbers.empty())
    item.question =
        question_with(manual, numbers) + (outcome.student.empty() ? " (the handout's: unknown whose it is)" : "");

  const ManualMark *mark = nullptr, *before = nullptr;
  for (const ManualMark& one : by_hand) {
    if (one.id == manual.id) (one.hand_in == item.version ? mark : before) = &one;
  }
  if (mark != nullptr) {
    mark_by_hand(manual, *mark, item);
    return item;
  }
  if (item.attached.empty()) {
    item.findings.push_back(fmt::format("not handed in: {}", fmt::join(list_files(manual), ", ")));
  } else {
    item.worth = Worth::kPending;
    item.pending = manual.marks;
    item.findings.emplace_back("waits for a person");
  }
  item.marked_before = before != nullptr;
  if (before != nullptr) {
    item.findings.push_back(fmt::format("an earlier version of it, which has changed since, was given {} of {}{}",
                                        shown_marks(before->marks), shown_marks(most_marks(manual)),
                                        before->comment.empty() ? "" : ": " + before->comment));
  }
  return item;
}

std::vector<ManualMark> load_manual_marks(const std::string& path, const Rubric& rubric) {
  if (!std::filesystem::exists(path)) return {};
  const TomlTable file = TomlTable::load(path);
  file.require_known({"manual"});
  std::set<std::pair<std::string, std::string>> seen;  // id, version
  std::vector<ManualMark> marks;
  for (const TomlTable& table : file.tables("manual")) {
    const std::optional<ManualMark> mark = mark_in(table, rubric);
    const std::string id = table.string("id"), version = table.string("hand_in");
    if (!seen.insert({id, version}).second)
      throw UsageError(fmt::format("{}: '{}' is marked twice", table.place(), id));
    if (mark) marks.push_back(*mark);
  }
  return marks;
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
    const MarkedItem& item = find_item(manual, marks);
    if (!has_entry(entries, item)) form += describe_form(manual, item);
  }
  if (!is_there || form != before) write_file_atomically(path, form);
}

}  // namespace lab::grading
