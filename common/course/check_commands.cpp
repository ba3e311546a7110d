#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/random_token.h"
#include "common/base/subprocess.h"
#include "common/course/annotation.h"
#include "common/course/check_page.h"
#include "common/course/combined_results.h"
#include "common/course/course_commands.h"
#include "common/course/course_tree.h"
#include "common/course/file_watch.h"
#include "common/course/lab_check.h"

namespace lab {
namespace {

constexpr std::chrono::milliseconds kPoll{150};

/// The tree's folder in the repository that GitHub has checked out, such as "course/".
std::string folder_in_repository(const std::string& root) {
  const char* const workspace = std::getenv("GITHUB_WORKSPACE");
  std::error_code ignored;
  if (workspace == nullptr || *workspace == '\0') return "";
  const std::string folder = std::filesystem::relative(root, workspace, ignored).generic_string();
  return folder.empty() || folder == "." || folder.rfind("..", 0) == 0 ? "" : folder + "/";
}

struct CheckOptions {
  std::vector<std::string> names;
  LabChecks::Options labs;
  std::string json_file, junit_file, html_file;
  bool annotations = false;
};

/// Refused before the checks, which take long.
void expect_writable(const std::string& option, const std::string& file) {
  if (!file.empty() && !std::ofstream(file, std::ios::app))
    throw UsageError(fmt::format("{}: cannot write {}", option, file));
}

void write_results(const CourseTree& tree, const CheckOptions& options, const std::string& folder) {
  const CombinedResults results(folder);
  if (!options.json_file.empty()) write_file_atomically(options.json_file, results.json());
  if (!options.junit_file.empty()) write_file_atomically(options.junit_file, to_junit_xml(results.suites()));
  if (!options.html_file.empty()) write_file_atomically(options.html_file, page::to_html(check_page(results, tree)));
  if (!options.annotations) return;
  for (const Annotation& one : list_annotations(results.json(), folder, tree, folder_in_repository(tree.root())))
    fmt::print("{}", to_text(one));
  for (const CombinedResults::Problem& problem : results.problems())
    fmt::print("{}", to_text(Annotation{"", 0, problem.lab, problem.what}));
}

ExitCode check(const std::string& root, CheckOptions& options) {
  expect_writable("--json", options.json_file);
  expect_writable("--junit", options.junit_file);
  expect_writable("--html", options.html_file);
  const CourseTree tree = CourseTree::load(root);
  options.labs.junit = !options.junit_file.empty();
  LabChecks checks(tree, options.labs);
  // Between these, GitHub takes nothing that is printed for a command: compilers and ranks print what students write.
  const std::string token = random_token();
  if (options.annotations) fmt::print("::stop-commands::{}\n", token);
  int first = 0;
  for (const PlannedCheck& plan : plan_checks(tree, options.names)) {
    const int code = checks.check(plan);
    if (first == 0) first = code;
  }
  if (options.annotations) fmt::print("::{}::\n", token);
  write_results(tree, options, checks.results());
  return static_cast<ExitCode>(first);
}

/// Checks every task and counts.
ExitCode test(const std::string& root) {
  const CourseTree tree = CourseTree::load(root);
  LabChecks::Options options;
  options.without_todos = true;
  LabChecks checks(tree, options);
  for (const PlannedCheck& plan : plan_checks(tree, {})) {
    fmt::print("lab: checking {}\n", plan.lab->lab);
    checks.check(plan);
  }
  const TestSummary summary = summarize(tree, CombinedResults(checks.results()));
  fmt::print("{}", summary.text);
  return summary.exit_code;
}

/// Waits until files were saved; returns them.
std::vector<std::string> wait_for_save(const CourseTree& tree, const std::vector<const Rubric*>& labs,
                                       FileTimes& known) {
  FileTimes now = known, last;
  do {  // an editor may save in several steps: two checks in a row must find the same
    std::this_thread::sleep_for(kPoll);
    last = std::exchange(now, file_times(tree, labs));
  } while (now == known || now != last);
  return changed_files(std::exchange(known, now), now);
}

ExitCode watch(const std::string& root, const std::string& name, int seconds) {
  const CourseTree tree = CourseTree::load(root);
  std::vector<const Rubric*> labs;
  for (const PlannedCheck& plan : plan_checks(tree, name.empty() ? std::vector<std::string>() : std::vector{name}))
    labs.push_back(plan.lab);
  const bool is_task = !name.empty() && tree.find_lab(name) == nullptr;
  FileTimes known = file_times(tree, labs);
  fmt::print("lab: watching {}: save a file in student/ and it is checked; Ctrl-C ends this\n",
             name.empty() ? "all labs" : name);
  std::fflush(stdout);
  // An exit code, and not a death by signal, which would also end the shell's list of commands. A check dies with this.
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { ::_exit(130); });
  while (true) {
    const std::vector<std::string> changed = wait_for_save(tree, labs, known);
    fmt::print("--- {:%H:%M:%S}  {}\n", fmt::localtime(std::time(nullptr)), fmt::join(changed, " "));
    std::fflush(stdout);
    ProcessSpec check;
    check.argv = {tree.root() + "/lab", "--no-install", "check"};
    check.capture = false;
    if (is_task) {
      check.argv.push_back(name);
    } else {
      for (const TaskOfLab& task : tasks_of_files(tree, changed)) check.argv.push_back(task.task->id);
    }
    const ProgramEnd end = run_program(check, seconds);
    if (end.timed_out) {
      fmt::print("lab: stopped after {} s: does a loop never end, or does a rank wait forever? (--timeout SECONDS)\n",
                 seconds);
    } else if (end.well()) {
      fmt::print("lab: right\n");
    } else {
      fmt::print("lab: not yet (exit code {})\n", exit_code_of_status(end.status));
    }
    std::fflush(stdout);
  }
}

}  // namespace

void check_command(cli::App& app) {
  auto& options = app.own(CheckOptions());
  auto& num_ranks = app.own(0);
  auto& num_shaken = app.own(0);
  app.add_argument("[TASK|LAB]...", options.names, "none: all");
  app.add_integer("--nproc", num_ranks, {1, 4096}, "on this number of ranks only");
  app.add_integer("--shake", num_shaken, {0, 10000}, "more runs, in which messages arrive in other orders");
  app.add_flag("--score", options.labs.score, "also what each right check costs, next to the reference");
  app.add_text("--html", options.html_file, "FILE", "a page with what was found");
  app.add_text("--junit", options.junit_file, "FILE", "the results of all labs as JUnit XML");
  app.add_text("--json", options.json_file, "FILE", "the same as JSON");
  app.add_flag("--annotations", options.annotations, "also print what is wrong as GitHub's workflow commands");
  app.set_action([&options, &num_ranks, &num_shaken, &app, &root = add_root(app)] {
    for (const auto& [name, value] : {std::pair("--nproc", num_ranks), std::pair("--shake", num_shaken)}) {
      if (app.given(name)) options.labs.of_check.insert(options.labs.of_check.end(), {name, std::to_string(value)});
    }
    return check(root, options);
  });
}

void test_command(cli::App& app) {
  app.set_action([&root = add_root(app)] { return test(root); });
}

void watch_command(cli::App& app) {
  auto& name = app.own(std::string());
  auto& seconds = app.own(120);
  app.add_argument("[TASK|LAB]", name, "none: all");
  app.add_integer("--timeout", seconds, {1, 1'000'000}, "a check is stopped after this number of seconds");
  app.set_action([&name, &seconds, &root = add_root(app)] { return watch(root, name, seconds); });
}

}  // namespace lab
