#include <fmt/format.h>

#include <algorithm>

#include "common/api/errors.h"
#include "common/course/course_commands.h"
#include "common/course/course_tree.h"
#include "common/course/hand_in/identity.h"
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

ExitCode show_hint(const std::string& root, const std::string& name, int level) {
  const CourseTree tree = CourseTree::load(root);
  const RubricTask& task = *tree.task_named(name).task;
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

}  // namespace

std::string& add_root(cli::App& app) {
  auto& root = app.own(std::string("."));
  app.add_text("--root", root, "DIR", "the folder that holds the labs");
  return root;
}

void next_command(cli::App& app) {
  auto& name = app.own(std::string());
  app.add_argument("[LAB]", name, "none: all labs");
  app.set_action([&name, &root = add_root(app)] {
    const CourseTree tree = CourseTree::load(root);
    fmt::print("{}", next_task_text(tree, labs_named(tree, name), ProgressFile::load(tree.root())));
    return ExitCode::kAllMatch;
  });
}

void status_command(cli::App& app) {
  auto& name = app.own(std::string());
  app.add_argument("[LAB]", name, "none: all labs");
  app.set_action([&name, &root = add_root(app)] {
    const CourseTree tree = CourseTree::load(root);
    fmt::print("{}", status_text(tree, labs_named(tree, name), ProgressFile::load(tree.root())));
    return ExitCode::kAllMatch;
  });
}

void hint_command(cli::App& app) {
  auto& name = app.own(std::string());
  auto& level = app.own(0);
  app.add_argument("TASK", name, "such as a9.broadcast");
  app.add_integer("--level,LEVEL", level, {1, 3}, "show the hints up to this one");
  app.set_action([&name, &level, &root = add_root(app)] { return show_hint(root, name, level); });
}

void questions_command(cli::App& app) {
  auto& name = app.own(std::string());
  auto& id = app.own(std::string());
  app.add_argument("LAB", name, "such as a9");
  app.add_text("--id", id, "ID", "your student number or login (default: the one that you hand in with)");
  app.set_action([&name, &id, &root = add_root(app)] {
    const CourseTree tree = CourseTree::load(root);
    const Rubric& lab = tree.lab_named(name);
    const std::string student = id.empty() ? load_identity(tree.root()).id : id;
    if (student.empty() && !lab.own_numbers.empty())
      throw UsageError(
          "questions: expected --id ID, your student number or login, since each student has other numbers");
    fmt::print("{}", list_questions(lab, student));
    return ExitCode::kAllMatch;
  });
}

void reset_command(cli::App& app) {
  auto& name = app.own(std::string());
  auto& whole_files = app.own(false);
  app.add_argument("TASK", name, "such as a9.broadcast");
  app.add_flag("--all", whole_files, "also put back other tasks in a file, where they cannot be told apart");
  app.set_action([&name, &whole_files, &root = add_root(app)] {
    const CourseTree tree = CourseTree::load(root);
    for (const std::string& message : reset_task(tree, tree.task_named(name), whole_files)) fmt::print("{}\n", message);
    return ExitCode::kAllMatch;
  });
}

void update_command(cli::App& app) {
  auto& folder = app.own(std::string());
  app.add_argument("DIR", folder, "where the newer version was unpacked");
  app.set_action([&folder, &root = add_root(app)] {
    fmt::print("{}", to_text(update_starter(read_starter(folder), root), root));
    return ExitCode::kAllMatch;
  });
}

}  // namespace lab
