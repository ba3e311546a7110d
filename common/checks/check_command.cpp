#include "common/checks/check_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/files.h"
#include "common/base/json.h"
#include "common/base/text.h"
#include "common/checks/case.h"
#include "common/checks/check_report.h"
#include "common/checks/check_run.h"
#include "common/checks/lab_main.h"
#include "common/checks/score.h"
#include "common/checks/verdict_json.h"
#include "common/cli/app.h"
#include "common/comm/messages/model_time.h"
#include "common/launch/supervise/cores.h"
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
  app.set_action([&] { return log::check_log_file(path, program.name, make_expectation(program.steps(), num_ranks)); });
}

namespace {

struct CheckOptions {
  launch::WorldSpec world;
  int num_ranks = 0;  ///< on so many alone; 0: on all sizes
  std::uint64_t seed = 0;
  int num_shaken = 0;
  std::vector<std::string> names;  ///< of tasks and cases, in the order of the report; none: all
  bool others = false;             ///< then all that are not named
  std::string json_file, junit_file;
  std::string score_file, figures_file;  ///< of the reference: to compare with, to write
};

std::vector<int> list_sizes(const LabProgram& program, const CheckOptions& options) {
  return options.num_ranks > 0 ? std::vector<int>{options.num_ranks} : program.sizes.all();
}

/// A world in which tasks are checked, and what its failures mean.
struct CheckedWorld {
  launch::WorldSpec spec;
  std::string name;     ///< "the run on 3 ranks"
  std::string heading;  ///< above what goes wrong there; may be empty
};

/// All sizes, or one; then the shaken runs.
std::vector<CheckedWorld> list_worlds(const LabProgram& program, const CheckOptions& options) {
  std::vector<CheckedWorld> worlds;
  launch::WorldSpec world = options.world;
  for (const int size : list_sizes(program, options)) {
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

/// A task's outcomes in one: the first that is not right, or else the first, with the sizes on which it is right.
class TaskHistory {
 public:
  explicit TaskHistory(std::string task) : task_(std::move(task)) {}

  const std::string& task() const { return task_; }
  const TaskOutcome& outcome() const { return *outcome_; }
  bool goes_on() const { return !outcome_ || outcome_->passed() || outcome_->skipped(); }

  void add(TaskOutcome outcome, const std::string& heading) {
    const bool passed = outcome.passed(), skipped = outcome.skipped();
    if (passed) sizes_.insert(static_cast<int>(outcome.checks.front().ranks.size()));
    const bool says_more = !outcome_ || (!skipped && (!passed || outcome_->skipped()));
    if (!says_more) return;
    heading_ = passed ? "" : heading;
    outcome_ = std::move(outcome);
  }

  /// "a9.allreduce: 4 of 4 checks right on 4 ranks, and on 1 2 3 5 7 8"
  std::string text() const {
    std::string text = heading_ + check_text(*outcome_);
    std::set<int> others = sizes_;
    others.erase(static_cast<int>(outcome_->checks.front().ranks.size()));
    if (outcome_->passed() && !others.empty())
      text.insert(text.find('\n'), fmt::format(", and on {}", fmt::join(others, " ")));
    return text;
  }

  nlohmann::json json() const {
    nlohmann::json json = nlohmann::json::parse(check_json({*outcome_})).front();
    if (!outcome_->passed()) json["heading"] = heading_;
    json["right_on"] = sizes_;
    return json;
  }

 private:
  std::string task_, heading_;
  std::optional<TaskOutcome> outcome_;
  std::set<int> sizes_;
};

/// Cases in a world.
struct CheckedCases {
  CheckedWorld world;
  std::vector<Case> cases;
};

/// Runs the checks in other processes, one for each world, at the same time: this one can fork no ranks any more once it
/// has judged results. Returns the outcomes of each world, in order.
std::vector<std::vector<TaskOutcome>> run_apart(const std::vector<CheckedCases>& worlds, const CallTable& calls,
                                                std::uint64_t seed) {
  std::vector<launch::MemoryFile> files;
  std::vector<launch::ChildWork> works;
  for (std::size_t i = 0; i < worlds.size(); ++i) files.emplace_back("verdicts");
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    works.push_back({worlds[i].world.name, [&, i] {
                       use_threads(1);  // makes the pool that a fork does not copy, before two threads could both make it
                       write_fully(files[i].fd(),
                                   json_text(run_checks(worlds[i].cases, calls, worlds[i].world.spec, seed)));
                     }});
  }
  launch::run_in_children(works);
  std::vector<std::vector<TaskOutcome>> outcomes;
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    outcomes.push_back(make_outcomes(from_json_text<std::vector<CaseVerdict>>(
        launch::view_bytes(files[i].fd()), "verdicts of " + worlds[i].world.name)));
  }
  return outcomes;
}

/// Checks each task until it is not right, in as many worlds at a time as there are cores: the usual one, which says most,
/// is among the first, and what fails in one is not run in later ones.
std::vector<TaskHistory> list_histories(const std::vector<Case>& cases, const LabProgram& program,
                                        const CheckOptions& options) {
  std::vector<TaskHistory> histories;
  for (const std::string& task : list_tasks(cases)) histories.emplace_back(task);
  const auto read_history = [&](const std::string& task) {
    return std::find_if(histories.begin(), histories.end(),
                        [&](const TaskHistory& history) { return history.task() == task; });
  };
  std::vector<CheckedCases> batch;
  const auto run_batch = [&] {
    const auto outcomes = run_apart(batch, program.calls, options.seed);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      for (const TaskOutcome& outcome : outcomes[i]) {
        const auto history = read_history(outcome.id);
        if (history->goes_on()) history->add(outcome, batch[i].world.heading);
      }
    }
    batch.clear();
  };
  const std::vector<CheckedWorld> worlds = list_worlds(program, options);
  for (const CheckedWorld& world : worlds) {
    std::vector<Case> some;
    for (const Case& one : cases) {
      const int size = world.spec.num_ranks;
      if (!read_history(one.task)->goes_on()) continue;
      if (options.num_ranks > 0) some.push_back(one);
      if (options.num_ranks == 0 && program.sizes.include(one, size)) some.push_back(program.sizes.on(one, size));
    }
    if (!some.empty()) batch.push_back({world, some});
    const bool is_full = static_cast<int>(batch.size()) >= launch::usable_cores();
    if (is_full || (!batch.empty() && &world == &worlds.back())) run_batch();
  }
  return histories;
}

/// What each right check costs; the reference's figures are of the lab's usual number of ranks.
std::string describe_score(const TaskOutcome& task, const FiguresByCase& reference, const LabProgram& program) {
  const bool at_default = static_cast<int>(task.checks.front().ranks.size()) == program.defaults.num_ranks;
  return score_text(task, at_default ? reference : FiguresByCase());
}

/// In the order of the names, each once; all in their own order if none is named.
std::vector<Case> chosen_cases(const std::vector<Case>& all, const CheckOptions& options) {
  std::vector<Case> chosen;
  const auto add = [&](const std::vector<Case>& cases) {
    for (const Case& test_case : cases) {
      const auto is_same = [&](const Case& other) { return other.name == test_case.name; };
      if (std::none_of(chosen.begin(), chosen.end(), is_same)) chosen.push_back(test_case);
    }
  };
  for (const std::string& name : options.names) add(named_cases(all, name, "check"));
  if (options.names.empty() || options.others) add(all);
  return chosen;
}

ExitCode check_tasks(const LabProgram& program, const CheckOptions& options) {
  use_threads(1);  // there must be no thread pool before a fork
  for (const int size : list_sizes(program, options)) {
    if (program.validate) program.validate(size);
  }
  const std::vector<Case> cases = chosen_cases(program.cases(), options);
  for (const std::string& file : {options.json_file, options.junit_file}) {
    if (!file.empty()) AtomicFile{file};  // cannot be written: reported before the run
  }

  std::optional<FiguresByCase> reference;
  if (!options.score_file.empty()) reference = load_figures(options.score_file);
  const std::vector<TaskHistory> histories = list_histories(cases, program, options);
  int exit_code = 0;
  bool any_shares = false;
  std::vector<TaskOutcome> outcomes;
  Summary summary;
  nlohmann::json document = nlohmann::json::array();
  for (const TaskHistory& history : histories) {
    const TaskOutcome& outcome = history.outcome();
    fmt::print("{}",
               without_commands(history.text() + (reference ? describe_score(outcome, *reference, program) : "")));
    document.push_back(history.json());
    if (exit_code == 0) exit_code = choose_exit_code(outcome);
    any_shares = any_shares || !text_of_sharing(outcome.checks).empty();
    summary.add(outcome.passed(), !outcome.missing_task.empty(), outcome.skipped());
    outcomes.push_back(outcome);
  }
  if (any_shares) fmt::print("model time: {}\n", rates_text(comm::ModelRates()));
  if (options.num_shaken > 0 && exit_code == 0)
    fmt::print("the same in {}\n", counted(options.num_shaken, "shaken run"));
  if (histories.size() > 1) fmt::print("{}", summary.text());
  if (!options.figures_file.empty())
    write_file_atomically(options.figures_file, text_of_figures(list_figures(outcomes)));
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
  app.add_argument("[TASK]...", options.names, "tasks, or cases of them; none: all");
  app.add_flag("--others", options.others, "after these, all that are not named");
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
