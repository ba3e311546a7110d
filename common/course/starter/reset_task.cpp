#include "common/course/starter/reset_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/starter/markers.h"
#include "common/course/starter/starter_tree.h"
#include "common/course/student_files.h"

namespace lab {
namespace {

using Lines = std::vector<std::string>;

/// "a9.broadcast" of "  // TODO(a9.broadcast): ..."; empty: no TODO begins here.
std::string todo_in(const std::string& line) {
  constexpr std::string_view kBegin = "// TODO(";
  const std::size_t at = line.find_first_not_of(" \t");
  if (at == std::string::npos || line.compare(at, kBegin.size(), kBegin) != 0) return "";
  const std::size_t begin = at + kBegin.size();
  return line.substr(begin, line.find(')', begin) - begin);
}

/// Whether a TODO that began with this indentation has ended: outside all blocks, at the first empty line.
bool ends_todo(const std::string& line, std::size_t indentation) {
  const std::size_t first = line.find_first_not_of(" \t\r\n");
  return indentation == 0 ? first == std::string::npos : first != std::string::npos && first < indentation;
}

/// A piece of the pristine file: provided lines, or a task's TODO.
struct PristinePiece {
  std::string task;  ///< empty: provided
  Lines lines;
};

/// Alternately provided lines and TODOs, provided ones first and last; there may be none between two TODOs.
std::vector<PristinePiece> pieces_of_pristine(const std::string& text) {
  std::vector<PristinePiece> pieces = {{}};
  std::size_t indentation = 0;
  for (const std::string& line : list_lines(text)) {
    const std::string task = todo_in(line);
    if (!task.empty()) {
      if (!pieces.back().task.empty()) pieces.emplace_back();
      pieces.push_back({task, {}});
      indentation = line.find_first_not_of(" \t");
    } else if (!pieces.back().task.empty() && ends_todo(line, indentation)) {
      pieces.emplace_back();
    }
    pieces.back().lines.push_back(line);
  }
  if (!pieces.back().task.empty()) pieces.emplace_back();
  return pieces;
}

/// Where each of the inner pieces begins if every one is placed as early as possible, between `begin` and `end`;
/// nullopt if they do not all occur there in order.
std::optional<std::vector<std::size_t>> earliest_places(const Lines& lines, const std::vector<Lines>& pieces,
                                                        std::size_t begin, std::size_t end) {
  std::vector<std::size_t> places;
  const auto to = lines.begin() + static_cast<std::ptrdiff_t>(end);
  for (const Lines& piece : pieces) {
    const auto found = std::search(lines.begin() + static_cast<std::ptrdiff_t>(begin), to, piece.begin(), piece.end());
    if (found == to || piece.empty()) return std::nullopt;
    places.push_back(static_cast<std::size_t>(found - lines.begin()));
    begin = places.back() + piece.size();
  }
  return places;
}

/// The same as late as possible: as early as possible, seen from the end.
std::optional<std::vector<std::size_t>> latest_places(const Lines& lines, std::vector<Lines> pieces, std::size_t begin,
                                                      std::size_t end) {
  std::reverse(pieces.begin(), pieces.end());
  for (Lines& piece : pieces) std::reverse(piece.begin(), piece.end());
  const std::size_t size = lines.size();
  auto places = earliest_places({lines.rbegin(), lines.rend()}, pieces, size - end, size - begin);
  if (!places) return std::nullopt;
  for (std::size_t i = 0; i < pieces.size(); ++i) (*places)[i] = size - (*places)[i] - pieces[i].size();
  std::reverse(places->begin(), places->end());
  return places;
}

/// The student's lines in place of each TODO, in order; nullopt if the provided lines do not determine them.
std::optional<std::vector<Lines>> work_between(const std::vector<PristinePiece>& pieces, const Lines& current) {
  const Lines& first = pieces.front().lines;
  const Lines& last = pieces.back().lines;
  if (current.size() < first.size() + last.size()) return std::nullopt;
  if (!std::equal(first.begin(), first.end(), current.begin())) return std::nullopt;
  if (!std::equal(last.rbegin(), last.rend(), current.rbegin())) return std::nullopt;
  std::vector<Lines> inner;
  for (std::size_t i = 2; i + 1 < pieces.size(); i += 2) inner.push_back(pieces[i].lines);
  const std::size_t begin = first.size(), end = current.size() - last.size();
  auto places = earliest_places(current, inner, begin, end);
  if (!places || places != latest_places(current, inner, begin, end)) return std::nullopt;

  std::vector<Lines> work;
  std::size_t at = begin;
  places->push_back(end);
  inner.emplace_back();
  for (std::size_t i = 0; i < inner.size(); ++i) {
    work.emplace_back(current.begin() + static_cast<std::ptrdiff_t>(at),
                      current.begin() + static_cast<std::ptrdiff_t>((*places)[i]));
    at = (*places)[i] + inner[i].size();
  }
  return work;
}

void append(std::string& text, const Lines& lines) {
  for (const std::string& line : lines) text += line;
}

namespace fs = std::filesystem;

/// A file and its new content.
struct ResetFile {
  std::string path;  ///< from the tree's root
  std::string before, after;
  std::string action;  ///< how much of it was put back
};

/// From a file that holds its own stubs between solution markers.
std::vector<ResetFile> from_markers(const CourseTree& tree, const TaskOfLab& task) {
  std::vector<ResetFile> files;
  for (const std::string& file : student_files(tree, *task.lab)) {
    const std::string path = task.lab->lab + "/" + file, before = read_file(tree.root() + "/" + path);
    const auto after = with_region_as_stub(before, task.task->id);
    if (after) files.push_back({path, before, *after, "its TODO is back; the rest of the file is as it was"});
  }
  return files;
}

ResetFile from_pristine(const std::string& path, const std::string& pristine, const std::string& before,
                        const std::string& task, bool whole_files) {
  const auto exact = with_stub_again(pristine, before, task);
  if (exact) return {path, before, *exact, "its TODO is back; the rest of the file is as it was"};
  std::vector<std::string> others = todos_in(pristine);
  others.erase(std::remove(others.begin(), others.end(), task), others.end());
  if (!others.empty() && !whole_files) {
    throw UsageError(
        fmt::format("{}: the provided lines around the TODO of {} were changed, so only the whole file can be "
                    "put back, and it holds {} as well; with --all that is done",
                    path, task, fmt::join(others, " ")));
  }
  return {path, before, pristine, "the whole file is back as it was handed out"};
}

std::vector<ResetFile> from_pristine_folder(const CourseTree& tree, const TaskOfLab& task, bool whole_files) {
  const fs::path folder = fs::path(tree.root()) / kPristineFolder;
  const std::string& lab = task.lab->lab;
  std::vector<ResetFile> files;
  std::error_code failure;
  fs::recursive_directory_iterator entry(folder / lab / "student", failure);
  for (; !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
    if (!entry->is_regular_file()) continue;
    const std::string path = entry->path().lexically_relative(folder).generic_string();
    const std::string pristine = read_file(entry->path().string());
    if (line_of_todo(pristine, task.task->id) == 0) continue;
    // A file that the student removed is put back as a whole: nothing can be lost.
    const std::string now = tree.root() + "/" + path;
    const std::string before = fs::exists(now) ? read_file(now) : "";
    files.push_back(from_pristine(path, pristine, before, task.task->id, whole_files || before.empty()));
  }
  std::sort(files.begin(), files.end(), [](const ResetFile& a, const ResetFile& b) { return a.path < b.path; });
  return files;
}

[[noreturn]] void refuse_without_todo(const CourseTree& tree, const TaskOfLab& task) {
  const std::string path = task.lab->lab + "/" + task.task->file;
  std::vector<std::string> others;
  for (const std::string& file : files_below(tree, *task.lab, task.task->file)) {
    for (const RubricTask& other : task.lab->tasks) {
      const std::string pristine = fmt::format("{}/{}/{}/{}", tree.root(), kPristineFolder, task.lab->lab, file);
      const std::string text = read_file(fs::exists(pristine) ? pristine : tree.get_folder(*task.lab) + "/" + file);
      if (line_of_todo(text, other.id) != 0) others.push_back(other.id);
    }
  }
  throw UsageError(
      fmt::format("{} has no TODO of its own to put back in {}{}", task.task->id, path,
                  others.empty() ? "" : fmt::format("; the file has those of {}", fmt::join(others, " "))));
}

}  // namespace

std::vector<std::string> todos_in(const std::string& text) {
  std::vector<std::string> tasks;
  for (const std::string& line : list_lines(text)) {
    const std::string task = todo_in(line);
    if (!task.empty() && std::find(tasks.begin(), tasks.end(), task) == tasks.end()) tasks.push_back(task);
  }
  return tasks;
}

std::optional<std::string> with_stub_again(const std::string& pristine, const std::string& current,
                                           const std::string& task) {
  const std::vector<PristinePiece> pieces = pieces_of_pristine(pristine);
  const auto work = work_between(pieces, list_lines(current));
  if (!work) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool provided = pieces[i].task.empty();
    append(text, provided || pieces[i].task == task ? pieces[i].lines : (*work)[i / 2]);
  }
  return text;
}

std::optional<std::string> with_region_as_stub(const std::string& text, const std::string& task) {
  std::string changed;
  bool found = false;
  for (const SourcePart& part : parse_solution_markers(text)) {
    found = found || part.task == task;
    changed += part.task == task ? join_starter({part}) : join_reference({part});
  }
  return found ? std::optional(changed) : std::nullopt;
}

std::vector<std::string> reset_task(const CourseTree& tree, const TaskOfLab& task, bool whole_files) {
  const bool is_starter = fs::exists(tree.root() + "/" + kPristineFolder);
  const std::vector<ResetFile> files =
      is_starter ? from_pristine_folder(tree, task, whole_files) : from_markers(tree, task);
  if (files.empty()) refuse_without_todo(tree, task);
  std::vector<std::string> messages;
  for (const ResetFile& file : files) {
    if (file.before == file.after) {
      messages.push_back(fmt::format("{}: is as it was handed out; nothing to do", file.path));
      continue;
    }
    const std::string path = tree.root() + "/" + file.path;
    const std::string saved = fs::exists(path) ? keep_backup(tree.root(), file.path, file.before) : "";
    make_folder("reset", fs::path(path).parent_path().string());
    write_file_atomically(path, file.after);
    messages.push_back(
        fmt::format("{}: {}{}", file.path, file.action, saved.empty() ? "" : "; your version: " + saved));
  }
  return messages;
}

}  // namespace lab
