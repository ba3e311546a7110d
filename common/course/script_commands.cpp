#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/annotation.h"
#include "common/course/check_page.h"
#include "common/course/combined_results.h"
#include "common/course/course_commands.h"
#include "common/course/course_tree.h"
#include "common/course/file_watch.h"
#include "common/course/student_files.h"
#include "common/course/task_progress.h"
#include "common/course/test_summary.h"

namespace lab {
namespace {

constexpr std::chrono::milliseconds kPoll{150};

/// One line per lab, in order of appearance: "a9_collectives a9.broadcast a9.allreduce". A lab alone: all of its tasks.
std::string plan_text(const CourseTree& tree, const std::vector<TaskOfLab>& tasks,
                      const std::vector<const Rubric*>& whole_labs) {
  std::string text;
  for (const Rubric& lab : tree.labs()) {
    std::vector<std::string> fields = {lab.lab};
    const bool whole = std::find(whole_labs.begin(), whole_labs.end(), &lab) != whole_labs.end();
    for (const TaskOfLab& task : tasks) {
      if (!whole && task.lab == &lab) fields.push_back(task.task->id);
    }
    if (whole || fields.size() > 1) text += fmt::format("{}\n", fmt::join(fields, " "));
  }
  return text;
}

/// Forgets the files of tasks that were edited while the check ran: it is unknown which version was checked.
void forget_edited(const CourseTree& tree, const std::vector<CheckedTask>& results, const std::string& since,
                   ProgressFile& progress) {
  for (const CheckedTask& result : results) {
    for (const Rubric& lab : tree.labs()) {
      const RubricTask* task = lab.find_task(result.task);
      if (task == nullptr || !changed_after(tree, {&lab, task}, since)) continue;
      TaskProgress known = progress.of(result.task);
      known.fingerprint.clear();
      progress.set(result.task, known);
    }
  }
}

/// `refused`: files, from the root, whose tasks are left out.
ExitCode plan(const std::string& root, const std::vector<std::string>& names, const std::string& refused) {
  const CourseTree tree = CourseTree::load(root);
  std::vector<TaskOfLab> tasks;
  std::vector<const Rubric*> whole_labs;
  for (const std::string& name : names) {
    const Rubric* lab = tree.find_lab(name);
    if (lab != nullptr && refused.empty()) {
      whole_labs.push_back(lab);
    } else if (lab != nullptr) {
      for (const RubricTask& task : lab->tasks) tasks.push_back({lab, &task});
    } else {
      tasks.push_back(tree.task_named(name));
    }
  }
  if (names.empty()) {
    for (const Rubric& lab : tree.labs()) whole_labs.push_back(&lab);
  }
  const std::vector<std::string_view> files = split(refused, ' ');
  for (const TaskOfLab& task : tasks_of_files(tree, {files.begin(), files.end()})) {
    const auto is_it = [&](const TaskOfLab& other) { return other.task == task.task; };
    tasks.erase(std::remove_if(tasks.begin(), tasks.end(), is_it), tasks.end());
  }
  fmt::print("{}", plan_text(tree, tasks, whole_labs));
  return ExitCode::kAllMatch;
}

ExitCode record(const std::string& root, const std::vector<std::string>& files, const std::string& since) {
  const CourseTree tree = CourseTree::load(root);
  ProgressFile progress = ProgressFile::load(tree.root());
  for (const std::string& file : files) {
    const std::vector<CheckedTask> results = read_check_results(file);
    remember(results, tree, progress);
    if (!since.empty()) forget_edited(tree, results, since, progress);
  }
  progress.save();
  return ExitCode::kAllMatch;
}

/// The tree's folder in the repository that GitHub has checked out, such as "course/".
std::string folder_in_repository(const std::string& root) {
  const char* const workspace = std::getenv("GITHUB_WORKSPACE");
  std::error_code ignored;
  if (workspace == nullptr || *workspace == '\0') return "";
  const std::string folder = std::filesystem::relative(root, workspace, ignored).generic_string();
  return folder.empty() || folder == "." || folder.rfind("..", 0) == 0 ? "" : folder + "/";
}

struct CombineOptions {
  std::string folder, json_file, junit_file, html_file;
  bool annotations = false;
};

ExitCode combine(const std::string& root, const CombineOptions& options) {
  const CombinedResults results(options.folder);
  if (!options.json_file.empty()) write_file_atomically(options.json_file, results.json());
  if (!options.junit_file.empty()) write_file_atomically(options.junit_file, to_junit_xml(results.suites()));
  if (!options.annotations && options.html_file.empty()) return ExitCode::kAllMatch;
  const CourseTree tree = CourseTree::load(root);
  if (!options.html_file.empty()) write_file_atomically(options.html_file, page::to_html(check_page(results, tree)));
  if (!options.annotations) return ExitCode::kAllMatch;
  for (const Annotation& one : annotations_of(results.json(), options.folder, tree, folder_in_repository(tree.root())))
    fmt::print("{}", to_text(one));
  for (const CombinedResults::Problem& problem : results.problems())
    fmt::print("{}", to_text(Annotation{"", 0, problem.lab, problem.what}));
  return ExitCode::kAllMatch;
}

ExitCode summarize(const std::string& root, const std::string& folder) {
  const TestSummary summary = summary_of(CourseTree::load(root), CombinedResults(folder));
  fmt::print("{}", summary.text);
  return summary.exit_code;
}

ExitCode wait_for_save(const std::string& root, const std::string& name, const std::string& state) {
  const CourseTree tree = CourseTree::load(root);
  const Rubric* lab = name.empty() ? nullptr : tree.find_lab(name);
  const TaskOfLab task = name.empty() || lab != nullptr ? TaskOfLab() : tree.task_named(name);
  std::vector<const Rubric*> labs;
  for (const Rubric& each : tree.labs()) {
    if (name.empty() || &each == lab || &each == task.lab) labs.push_back(&each);
  }

  if (!std::filesystem::exists(state)) {
    write_file_atomically(state, to_text(file_times(tree, labs)));
    return ExitCode::kAllMatch;
  }
  const FileTimes before = parse_file_times(read_file(state));
  FileTimes now = before, last;
  do {  // an editor may save in several steps: two checks in a row must find the same
    std::this_thread::sleep_for(kPoll);
    last = std::exchange(now, file_times(tree, labs));
  } while (now == before || now != last);
  write_file_atomically(state, to_text(now));
  const std::vector<std::string> changed = changed_files(before, now);
  fmt::print("{}\n", fmt::join(changed, " "));
  fmt::print("{}", plan_text(tree, task.task != nullptr ? std::vector{task} : tasks_of_files(tree, changed), {}));
  return ExitCode::kAllMatch;
}

}  // namespace

void plan_command(cli::App& app) {
  auto& names = app.own(std::vector<std::string>());
  auto& refused = app.own(std::string());
  app.add_argument("[NAME]...", names, "tasks or labs; none: all");
  app.add_text("--without", refused, "FILES", "leave out the tasks of these files, which have a space in between");
  app.set_action([&names, &refused, &root = add_root(app)] { return plan(root, names, refused); });
}

void record_command(cli::App& app) {
  auto& files = app.own(std::vector<std::string>());
  auto& since = app.own(std::string());
  app.add_argument("FILE...", files, "results of `LAB check --json`");
  app.add_text("--since", since, "FILE", "a file as old as the beginning of the check");
  app.set_action([&files, &since, &root = add_root(app)] { return record(root, files, since); });
}

void combine_command(cli::App& app) {
  auto& options = app.own(CombineOptions());
  app.add_argument("DIR", options.folder, "results of `LAB check`, and why others are missing");
  app.add_text("--json", options.json_file, "FILE", "all of them as JSON");
  app.add_text("--junit", options.junit_file, "FILE", "all of them as JUnit XML");
  app.add_text("--html", options.html_file, "FILE", "all of them as a page");
  app.add_flag("--annotations", options.annotations, "print what is wrong as GitHub's workflow commands");
  app.set_action([&options, &root = add_root(app)] { return combine(root, options); });
}

void summary_command(cli::App& app) {
  auto& folder = app.own(std::string());
  app.add_argument("DIR", folder, "results of `LAB check`, and why others are missing");
  app.set_action([&folder, &root = add_root(app)] { return summarize(root, folder); });
}

void wait_command(cli::App& app) {
  auto& name = app.own(std::string());
  auto& state = app.own(std::string());
  app.add_argument("[NAME]", name, "a task or a lab; none: all");
  app.add_text("--state", state, "FILE", "the files' times; if missing, it is created, and nothing is waited for");
  app.set_action([&name, &state, &root = add_root(app)] { return wait_for_save(root, name, state); });
}

}  // namespace lab
