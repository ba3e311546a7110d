#include "common/course/lab_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/course/audit/lab_audit.h"
#include "common/course/file_watch.h"
#include "common/course/student_files.h"
#include "common/course/task_progress.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

std::string began_in(const std::string& folder) {
  return folder + "/began";
}

}  // namespace

std::vector<PlannedCheck> plan_checks(const CourseTree& tree, const std::vector<std::string>& names) {
  std::set<const Rubric*> whole;
  std::set<std::string> tasks;
  for (const std::string& name : names) {
    if (const Rubric* lab = tree.find_lab(name)) {
      whole.insert(lab);
    } else {
      tasks.insert(tree.task_named(name).task->id);
    }
  }
  std::vector<PlannedCheck> plans;
  for (const Rubric& lab : tree.labs()) {
    PlannedCheck plan{&lab, {}, names.empty() || whole.count(&lab) != 0};
    for (const RubricTask& task : lab.tasks) {
      if (plan.is_whole || tasks.count(task.id) != 0) plan.tasks.push_back(task.id);
    }
    plan.is_whole = plan.is_whole && lab.given.empty();  // what is given is not the student's to check
    if (!plan.tasks.empty()) plans.push_back(plan);
  }
  return plans;
}

int run_here(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment,
             int stdout_fd) {
  std::fflush(nullptr);
  ProcessOptions options;
  options.keep_terminal = true;
  options.stdout_fd = stdout_fd;
  int status = 0;
  ::waitpid(exec_process(argv, environment, options), &status, 0);
  return exit_code_of_status(status);
}

bool build_program(const CourseTree& tree, const std::string& program, const std::string& messages) {
  const std::vector<std::string> command = {tree.root() + "/lab", "--no-install", "compile", program, messages};
  if (run_here(command, {}, STDERR_FILENO) == 0) return true;
  fmt::print(stderr, "lab: {} was not built: the compiler's errors are above\n", program);
  return false;
}

LabChecks::LabChecks(const CourseTree& tree, Options options) : tree_(tree), options_(std::move(options)) {
  folder_ = tree.root() + "/build/course.XXXXXX";
  if (::mkdtemp(folder_.data()) == nullptr)
    throw UsageError(fmt::format("cannot make a folder in {}/build", tree.root()));
  fs::create_directory(results());
}

LabChecks::~LabChecks() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

/// Where the next results of a lab go, without the ending; in the order of the calls.
std::string LabChecks::collect_results(const std::string& lab) {
  return fmt::format("{}/{:04}-{}", results(), num_results_++, lab);
}

void LabChecks::note_problem(const std::string& lab, const std::string& what) {
  write_file_atomically(collect_results(lab) + ".problem", what + "\n");
}

/// Remembers the results, but not the files of tasks that were edited since: it is unknown which version was checked.
void LabChecks::record(const std::string& file) const {
  ProgressFile progress = ProgressFile::load(tree_.root());
  const std::vector<CheckedTask> results = read_check_results(file);
  remember(results, tree_, progress);
  for (const CheckedTask& result : results) {
    for (const Rubric& lab : tree_.labs()) {
      const RubricTask* task = lab.find_task(result.task);
      if (task == nullptr || !changed_after(tree_, {&lab, task}, began_in(folder_))) continue;
      TaskProgress known = progress.of(result.task);
      known.fingerprint.clear();
      progress.set(result.task, known);
    }
  }
  progress.save();
}

LabChecks::Running LabChecks::start_program(const PlannedCheck& plan) {
  const std::string& lab = plan.lab->lab;
  const std::string results = collect_results(lab);
  std::vector<std::string> command = {tree_.root() + "/build/release/bin/" + lab, "check"};
  command.insert(command.end(), plan.tasks.begin(), plan.tasks.end());
  if (plan.is_whole) command.emplace_back("--others");
  command.insert(command.end(), {"--json", results + ".json"});
  command.insert(command.end(), options_.of_check.begin(), options_.of_check.end());
  if (options_.score) command.insert(command.end(), {"--score", tree_.root() + "/" + lab + "/reference_figures.json"});
  if (options_.junit) command.insert(command.end(), {"--junit", results + ".xml"});
  std::fflush(nullptr);
  const UniqueFd out(::open((folder_ + "/output").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  ProcessOptions options;
  options.keep_terminal = true;
  options.stdout_fd = out.get();
  return {exec_process(command, {}, options), results};
}

int LabChecks::finish_program(const Running& running, const std::string& lab) {
  int status = 0;
  ::waitpid(running.process, &status, 0);
  const int code = exit_code_of_status(status);
  for (const std::string& line : list_lines(read_file(folder_ + "/output"))) {
    if (!options_.without_todos || line.find(": not implemented: stops at TODO") == std::string::npos)
      fmt::print("{}", line);
  }
  std::fflush(stdout);
  std::error_code missing;
  if (fs::file_size(running.results + ".json", missing) > 0 && !missing) {
    record(running.results + ".json");
  } else {
    discard(running);
    note_problem(lab, fmt::format("the check ended with exit code {}, without results: see the log", code));
  }
  return code;
}

void LabChecks::discard(const Running& running) {
  std::error_code missing;
  for (const char* kind : {".json", ".xml"}) fs::remove(running.results + kind, missing);
}

int LabChecks::check(PlannedCheck plan) {
  const std::string& lab = plan.lab->lab;
  write_file_atomically(began_in(folder_), "");
  const std::string messages = collect_results(lab) + ".build";
  if (!build_program(tree_, lab, messages)) {
    const std::string problem = messages.substr(0, messages.rfind('.')) + ".problem";
    write_file_atomically(problem, "it was not built: see the compiler's errors\n");
    return 1;
  }
  fs::remove(messages);
  // Most often the grading would refuse nothing, so the checks do not wait until that is known; but their lines do.
  Running running = start_program(plan);
  const LabAudit audit = audit_lab(tree_.root(), lab);
  for (const std::string& line : audit.lines) fmt::print(stderr, "{}\n", line);
  if (audit.refused.empty()) return finish_program(running, lab);
  ::kill(running.process, SIGTERM);
  ::waitpid(running.process, nullptr, 0);
  discard(running);
  note_problem(lab, "the grading would refuse a file: see what the check has printed");
  plan.is_whole = false;
  for (const TaskOfLab& task : tasks_of_files(tree_, {audit.refused.begin(), audit.refused.end()}))
    plan.tasks.erase(std::remove(plan.tasks.begin(), plan.tasks.end(), task.task->id), plan.tasks.end());
  fmt::print(stderr, "lab: not checked, since nothing in it would count: {}\n", fmt::join(audit.refused, " "));
  if (!plan.tasks.empty()) finish_program(start_program(plan), lab);
  return 1;
}

}  // namespace lab
