#include "common/checks/check_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/checks/case.h"
#include "common/checks/check_report.h"
#include "common/checks/check_run.h"
#include "common/checks/lab_main.h"
#include "common/checks/score.h"
#include "common/cli/app.h"
#include "common/comm/messages/model_time.h"
#include "common/launch/supervise/memory_file.h"
#include "common/launch/supervise/run_in_child.h"
#include "common/log/check_log.h"
#include "common/tensor/compute_threads.h"

namespace lab {
namespace {

/// Processes, as many as the lab has by default.
launch::WorldSpec usual_world(const LabProgram& program) {
  launch::WorldSpec world;
  world.kind = launch::WorldKind::kProcesses;
  world.num_ranks = program.defaults.num_ranks;
  world.timeout_seconds = program.defaults.timeout_seconds;
  return world;
}

}  // namespace

void check_log_command(cli::App& app, const LabProgram& program) {
  auto& path = app.own(std::string());
  auto& num_ranks = app.own(program.defaults.num_ranks);
  app.add_argument("FILE", path, "the log; - reads standard input");
  app.add_integer("--nproc", num_ranks, {1, 4096}, "ranks of the run");
  app.set_action([&] { return log::check_log_file(path, program.name, expectation_of(program.steps(), num_ranks)); });
}

namespace {

struct CheckOptions {
  launch::WorldSpec world;
  int num_ranks = 0;  ///< on so many alone; 0: on all sizes
  std::uint64_t seed = 0;
  int num_shaken = 0;
  std::string name, json_file, junit_file;
  std::string score_file, figures_file;  ///< of the reference: to compare with, to write
};

/// What the author of a solution is told of one task, and whether to go on to its next run.
struct TaskReport {
  std::string task, text;
  nlohmann::json json;
  int exit_code = 0;
  bool passed = false, skipped = false, todo = false, shares = false;
  std::string figures;  ///< text_of_figures()
};

TaskReport report_of(const TaskCheck& check, const std::optional<FiguresByCase>& reference) {
  return {check.task,
          check_text(check) + (reference ? score_text(check, *reference) : ""),
          nlohmann::json::parse(check_json({check})).front(),
          check.exit_code(),
          check.passed(),
          check.skipped(),
          reached_todo(check),
          !text_of_sharing(check.cases).empty(),
          text_of_figures(figures_of({check}))};
}

nlohmann::json json_of(const TaskReport& one) {
  return {one.task, one.text, one.json, one.exit_code, one.passed, one.skipped, one.todo, one.shares, one.figures};
}

TaskReport report_from(const nlohmann::json& one) {
  return {one.at(0), one.at(1), one.at(2), one.at(3), one.at(4), one.at(5), one.at(6), one.at(7), one.at(8)};
}

/// Runs the checks in another process: this one can fork no ranks any more once it has judged results.
std::vector<TaskReport> run_in_its_process(const std::string& what, const std::vector<Case>& cases,
                                           const CallTable& calls, const launch::WorldSpec& world, std::uint64_t seed,
                                           const std::optional<FiguresByCase>& reference) {
  const launch::MemoryFile file("report");
  launch::run_in_child(what, [&] {
    use_threads(1);  // makes the pool that a fork does not copy, before two threads could both make it
    nlohmann::json reports = nlohmann::json::array();
    for (const TaskCheck& check : run_checks(cases, calls, world, seed))
      reports.push_back(json_of(report_of(check, reference)));
    write_fully(file.fd(), reports.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  });
  std::vector<TaskReport> reports;
  for (const nlohmann::json& one : nlohmann::json::parse(launch::bytes_of(file.fd())))
    reports.push_back(report_from(one));
  return reports;
}

std::vector<int> sizes_of(const LabProgram& program, const CheckOptions& options) {
  return options.num_ranks > 0 ? std::vector<int>{options.num_ranks} : program.sizes.all();
}

/// A world in which tasks are checked, and what its failures mean.
struct CheckedWorld {
  launch::WorldSpec spec;
  std::string name;     ///< "the run on 3 ranks"
  std::string heading;  ///< above what goes wrong there; may be empty
};

/// All sizes, or one; then the shaken runs.
std::vector<CheckedWorld> worlds_of(const LabProgram& program, const CheckOptions& options) {
  std::vector<CheckedWorld> worlds;
  launch::WorldSpec world = options.world;
  for (const int size : sizes_of(program, options)) {
    world.num_ranks = size;
    worlds.push_back({world, fmt::format("the run on {}", counted(size, "rank")), ""});
  }
  world = worlds.front().spec;
  world.kind = launch::WorldKind::kRelay;
  for (int run = 1; run <= options.num_shaken; ++run) {
    world.shake_seed = static_cast<std::uint64_t>(run);
    const std::string name = fmt::format("shaken run {} of {}", run, options.num_shaken);
    worlds.push_back({world, name,
                      name + " (the usual run is right, so the result depends on the order in which messages arrive, "
                             "or a tensor is changed or read before its message is complete):\n"});
  }
  return worlds;
}

/// A task's reports in one: the first that is not right, or else the first, with the sizes on which it is right.
class TaskHistory {
 public:
  explicit TaskHistory(std::string task) : task_(std::move(task)) {}

  const std::string& task() const { return task_; }
  const TaskReport& report() const { return *report_; }
  bool goes_on() const { return !report_ || report_->passed || report_->skipped; }

  void add(TaskReport report, int num_ranks, const std::string& heading) {
    if (report.passed) sizes_.insert(num_ranks);
    const bool says_more = !report_ || (!report.skipped && (!report.passed || report_->skipped));
    if (!says_more) return;
    if (!report.passed) {
      report.text = heading + report.text;
      report.json["heading"] = heading;
    }
    report_ = std::move(report);
  }

  /// "a9.allreduce: 4 of 4 checks right on 4 ranks, and on 1 2 3 5 7 8"
  std::string text() const {
    std::string text = report_->text;
    const auto at = static_cast<int>(report_->json.at("ranks"));
    std::set<int> others = sizes_;
    others.erase(at);
    if (report_->passed && !others.empty())
      text.insert(text.find('\n'), fmt::format(", and on {}", fmt::join(others, " ")));
    return text;
  }

  nlohmann::json json() const {
    nlohmann::json json = report_->json;
    json["right_on"] = sizes_;
    return json;
  }

 private:
  std::string task_;
  std::optional<TaskReport> report_;
  std::set<int> sizes_;
};

std::vector<TaskHistory> histories_of(const std::vector<Case>& cases, const LabProgram& program,
                                      const CheckOptions& options) {
  std::optional<FiguresByCase> reference, without;
  if (!options.score_file.empty()) {
    reference = load_figures(options.score_file);
    without.emplace();
  }
  std::vector<TaskHistory> histories;
  for (const std::string& task : tasks_of(cases)) histories.emplace_back(task);
  for (const CheckedWorld& world : worlds_of(program, options)) {
    std::vector<Case> some;
    for (const Case& test_case : cases) {
      const auto history = std::find_if(histories.begin(), histories.end(),
                                        [&](const TaskHistory& one) { return one.task() == test_case.task; });
      const bool fits = options.num_ranks > 0 || program.sizes.include(test_case, world.spec.num_ranks);
      if (history->goes_on() && fits) some.push_back(test_case);
    }
    if (some.empty()) continue;
    const bool at_default = world.spec.num_ranks == program.defaults.num_ranks;  // the reference's
    for (TaskReport& report : run_in_its_process(world.name, some, program.calls, world.spec, options.seed,
                                                 reference && at_default ? reference : without)) {
      const auto history = std::find_if(histories.begin(), histories.end(),
                                        [&](const TaskHistory& one) { return one.task() == report.task; });
      history->add(std::move(report), world.spec.num_ranks, world.heading);
    }
  }
  return histories;
}

ExitCode check_tasks(const LabProgram& program, const CheckOptions& options) {
  use_threads(1);  // there must be no thread pool before a fork
  for (const int size : sizes_of(program, options)) {
    if (program.validate) program.validate(size);
  }
  const std::vector<Case> all = program.cases();
  const std::vector<Case> cases = options.name.empty() ? all : named_cases(all, options.name, "check");
  for (const std::string& file : {options.json_file, options.junit_file}) {
    if (!file.empty()) AtomicFile{file};  // cannot be written: reported before the run
  }

  const std::vector<TaskHistory> histories = histories_of(cases, program, options);
  int exit_code = 0;
  bool any_shares = false;
  FiguresByCase figures;
  Summary summary;
  nlohmann::json document = nlohmann::json::array();
  for (const TaskHistory& history : histories) {
    const TaskReport& report = history.report();
    fmt::print("{}", without_commands(history.text()));
    document.push_back(history.json());
    if (exit_code == 0) exit_code = report.exit_code;
    any_shares = any_shares || report.shares;
    figures.merge(figures_from(report.figures));
    summary.add(report.passed, report.todo, report.skipped);
  }
  if (any_shares) fmt::print("model time: {}\n", rates_text(comm::ModelRates()));
  if (options.num_shaken > 0 && exit_code == 0)
    fmt::print("the same in {}\n", counted(options.num_shaken, "shaken run"));
  if (histories.size() > 1) fmt::print("{}", summary.text());
  if (!options.figures_file.empty()) write_file_atomically(options.figures_file, text_of_figures(figures));
  const std::string json = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (!options.json_file.empty()) write_file_atomically(options.json_file, json);
  if (!options.junit_file.empty())
    write_file_atomically(options.junit_file, to_junit_xml({junit_suite(program.name, json)}));
  return static_cast<ExitCode>(exit_code);
}

}  // namespace

void check_command(cli::App& app, const LabProgram& program) {
  auto& options = app.own(CheckOptions());
  options.world = usual_world(program);
  options.seed = program.defaults.seed;
  app.add_argument("[TASK]", options.name, "a task, or one of its cases; none: all");
  app.add_integer(
      "--nproc", options.num_ranks, {1, 4096},
      fmt::format("ranks to start; without it {}, one after the other", fmt::join(program.sizes.all(), " ")));
  if (!program.ranks_option.empty())
    app.add_integer(program.ranks_option, options.num_ranks, {1, 4096}, "the same as --nproc");
  app.add_seed("--seed", options.seed, "of weights and data");
  app.add_timeout(options.world.timeout_seconds);
  app.add_integer("--shake", options.num_shaken, {0, 10000}, "more runs, in which messages arrive in other orders");
  app.add_text("--json", options.json_file, "FILE", "the results as JSON");
  app.add_text("--junit", options.junit_file, "FILE", "the results as JUnit XML");
  app.add_text("--score", options.score_file, "FILE",
               "also print what each right check costs, next to the reference's figures in FILE and the bound");
  app.add_text("--figures", options.figures_file, "FILE", "what each right check costs, for --score");
  app.set_action([&] { return check_tasks(program, options); });
}

}  // namespace lab
