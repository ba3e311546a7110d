#include <fmt/format.h>

#include <algorithm>

#include "common/base/numbers.h"
#include "common/course/course_arguments.h"
#include "common/course/course_commands.h"
#include "common/course/course_tree.h"
#include "common/course/next_task.h"
#include "common/course/starter/reset_task.h"
#include "common/course/starter/starter_update.h"
#include "common/course/task_progress.h"

namespace lab {
namespace {

/// The lab of this name; all labs if none is named.
std::vector<const Rubric*> labs_named(const CourseTree& tree, const std::string& name) {
  if (!name.empty()) return {&tree.lab_named(name)};
  std::vector<const Rubric*> labs;
  for (const Rubric& lab : tree.labs()) labs.push_back(&lab);
  return labs;
}

}  // namespace

ExitCode next_command(int argc, char** argv) {
  CourseArguments arguments(argc, argv, "[LAB]", "Names the next task and what to read for it");
  if (const auto answered = arguments.parse(0, 1)) return *answered;
  const CourseTree tree = CourseTree::load(arguments.root());
  fmt::print("{}", next_task_text(tree, labs_named(tree, arguments.name()), ProgressFile::load(tree.root())));
  return ExitCode::kAllMatch;
}

ExitCode status_command(int argc, char** argv) {
  CourseArguments arguments(argc, argv, "[LAB]", "Lists the tasks and how far each is");
  if (const auto answered = arguments.parse(0, 1)) return *answered;
  const CourseTree tree = CourseTree::load(arguments.root());
  fmt::print("{}", status_text(tree, labs_named(tree, arguments.name()), ProgressFile::load(tree.root())));
  return ExitCode::kAllMatch;
}

ExitCode hint_command(int argc, char** argv) {
  CourseArguments arguments(argc, argv, "TASK [LEVEL]", "Shows a task's next hint, or all up to a level");
  int level = 0;
  arguments.app().add_integer("--level", level, {1, 3}, "show the hints up to this one");
  if (const auto answered = arguments.parse(1, 2)) return *answered;
  if (arguments.names().size() == 2) level = static_cast<int>(numbers_in("LEVEL", arguments.names()[1], {1, 3})[0]);
  const CourseTree tree = CourseTree::load(arguments.root());
  const RubricTask& task = *tree.task_named(arguments.name()).task;
  ProgressFile progress = ProgressFile::load(tree.root());
  TaskProgress known = progress.of(task.id);

  const int num_hints = static_cast<int>(task.hints.size());
  const int last = level > 0 ? level : std::min(known.hints + 1, num_hints);
  for (int i = level > 0 || known.hints >= num_hints ? 1 : last; i <= last; ++i) {
    fmt::print("{}, hint {} of {}: {}\n", task.id, i, num_hints, task.hints[static_cast<std::size_t>(i - 1)]);
  }
  if (last < num_hints) fmt::print("a clearer one: ./lab hint {}\n", task.id);
  known.hints = std::max(known.hints, last);
  progress.set(task.id, known);
  progress.save();
  return ExitCode::kAllMatch;
}

ExitCode reset_command(int argc, char** argv) {
  CourseArguments arguments(argc, argv, "TASK", "Puts a task's TODO back as it was handed out");
  bool whole_files = false;
  arguments.app().add_flag("--all", whole_files,
                           "also put back other tasks in a file, where they cannot be told apart");
  if (const auto answered = arguments.parse(1, 1)) return *answered;
  const CourseTree tree = CourseTree::load(arguments.root());
  const TaskOfLab task = tree.task_named(arguments.name());
  for (const std::string& message : reset_task(tree, task, whole_files)) fmt::print("{}\n", message);
  return ExitCode::kAllMatch;
}

ExitCode update_command(int argc, char** argv) {
  CourseArguments arguments(argc, argv, "DIR", "Brings this starter up to a newer one; your work stays");
  if (const auto answered = arguments.parse(1, 1)) return *answered;
  const StarterUpdate update = update_starter(read_starter(arguments.name()), arguments.root());
  fmt::print("{}", to_text(update, arguments.root()));
  return ExitCode::kAllMatch;
}

}  // namespace lab
