#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/files.h"
#include "common/base/lab_names.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/cli/app.h"
#include "common/cli/guarded_main.h"
#include "common/course/course_tree.h"
#include "common/launch/supervise/run_directory.h"
#include "grading/regenerate/lab_files.h"
#include "grading/regenerate/plan_tables.h"

// The program behind `lab regenerate`: writes what follows from rubrics, references and programs, or says what is stale.
namespace lab::grading {
namespace {

namespace fs = std::filesystem;

std::string text_or_nothing(const std::string& path) {
  return fs::exists(path) ? read_file(path) : "";
}

/// The first line in which they differ; empty: none.
std::string first_difference(const std::string& present, const std::string& derived) {
  if (present == derived) return "";
  const std::vector<std::string> is = list_lines(present), should = list_lines(derived);
  std::size_t line = 0;
  while (line < is.size() && line < should.size() && is[line] == should[line]) ++line;
  const auto shown = [&](const auto& lines) {
    return line < lines.size() ? fmt::format("'{}'", without_line_break(lines[line])) : "the end";
  };
  return fmt::format("line {}: expected {}, got {}", line + 1, shown(should), shown(is));
}

/// Brings files up to date, or says which are not.
class Derived {
 public:
  Derived(std::string root, bool only_checks) : root_(std::move(root)), only_checks_(only_checks) {}

  void update(const std::string& path, const std::string& derived, const std::string& difference) {
    if (difference.empty()) return;
    if (!only_checks_) write_file_atomically(root_ + "/" + path, derived);
    fmt::print("{}: {}: {}\n", only_checks_ ? "stale" : "written", path, difference);
    ++num_stale_;
  }
  void update(const std::string& path, const std::string& derived) {
    update(path, derived, first_difference(text_or_nothing(root_ + "/" + path), derived));
  }

  ExitCode exit_code() const {
    if (num_stale_ == 0) fmt::print("nothing is stale\n");
    if (num_stale_ == 0 || !only_checks_) return ExitCode::kAllMatch;
    fmt::print("hint: ./lab regenerate\n");
    return ExitCode::kMismatch;
  }

 private:
  std::string root_;
  bool only_checks_;
  int num_stale_ = 0;
};

ExitCode run(int argc, char** argv) {
  cli::App app("labregenerate",
               "Writes what follows from rubrics, references and the labs' programs next to it: each lab's "
               "expected_log.txt and reference_figures.json, the labs' numbers in README.md, and these and what each "
               "task teaches in SYLLABUS.md.");
  std::string root;
  bool only_checks = false;
  app.add_argument("SOURCE", root, "the suite's source tree");
  app.add_flag("--check", only_checks, "write nothing, and end with 1 if something is stale");
  if (const auto done = app.parse(argc, argv)) return *done;
  const std::string bin = fs::path(own_program()).parent_path();
  const bool other_libtorch = text_or_nothing(bin + "/../parts.txt").find("\ttorch\t1.13.") == std::string::npos;

  const CourseTree tree = CourseTree::load(root);
  Derived files(root, only_checks);
  PlanNumbers numbers;
  const launch::RunDirectory scratch;
  for (const Rubric& lab : tree.labs()) {
    numbers.emplace_back(shorten_name(lab.lab), read_numbers(lab, tree.get_folder(lab)));
    const std::string program = bin + "/" + lab.lab, expected = lab.lab + "/expected_log.txt",
                      figures = lab.lab + "/reference_figures.json";
    files.update(expected, expected_log(program, text_or_nothing(root + "/" + expected), scratch.path()));
    const std::string now = reference_figures(program, scratch.path());
    files.update(figures, now, differing_figures(text_or_nothing(root + "/" + figures), now, other_libtorch));
  }
  std::string plan = with_plan(read_file(root + "/grading/SYLLABUS.md"), numbers);
  for (const Rubric& lab : tree.labs()) plan = with_lessons(plan, lab);
  files.update("grading/SYLLABUS.md", plan);
  files.update("README.md", with_labs(read_file(root + "/README.md"), plan));
  return files.exit_code();
}

}  // namespace
}  // namespace lab::grading

int main(int argc, char** argv) {
  return lab::cli::guarded_main(argc, argv, lab::grading::run);
}
