#include "common/course/reset_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "common/course/backup.h"
#include "common/course/starter_tree.h"
#include "common/course/stub_reset.h"
#include "common/course/student_files.h"
#include "common/report/atomic_file.h"
#include "common/report/errors.h"
#include "common/report/folder.h"
#include "common/report/read_file.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

/// A file as it will be.
struct ResetFile {
  std::string path;  ///< from the tree's root
  std::string before, after;
  std::string words;  ///< how much of it was put back
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
    // A file that the student removed is put back whole: nothing can be lost.
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
      const std::string text = read_file(fs::exists(pristine) ? pristine : tree.folder_of(*task.lab) + "/" + file);
      if (line_of_todo(text, other.id) != 0) others.push_back(other.id);
    }
  }
  throw UsageError(fmt::format("{} has no TODO of its own to put back in {}{}", task.task->id, path,
                               others.empty() ? "" : fmt::format("; there is: {}", fmt::join(others, " "))));
}

}  // namespace

std::vector<std::string> reset_task(const CourseTree& tree, const TaskOfLab& task, bool whole_files) {
  const bool is_starter = fs::exists(tree.root() + "/" + kPristineFolder);
  const std::vector<ResetFile> files =
      is_starter ? from_pristine_folder(tree, task, whole_files) : from_markers(tree, task);
  if (files.empty()) refuse_without_todo(tree, task);
  std::vector<std::string> words;
  for (const ResetFile& file : files) {
    if (file.before == file.after) {
      words.push_back(fmt::format("{}: is as it was handed out; nothing to do", file.path));
      continue;
    }
    const std::string path = tree.root() + "/" + file.path;
    const std::string saved = fs::exists(path) ? keep_backup(tree.root(), file.path, file.before) : "";
    make_folder("reset", fs::path(path).parent_path().string());
    write_file_atomically(path, file.after);
    words.push_back(fmt::format("{}: {}{}", file.path, file.words, saved.empty() ? "" : "; your version: " + saved));
  }
  return words;
}

}  // namespace lab
