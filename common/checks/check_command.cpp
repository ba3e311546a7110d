#include "common/checks/check_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/checks/case.h"
#include "common/checks/check_run.h"
#include "common/checks/lab_main.h"
#include "common/cli/app.h"
#include "common/comm/messages/model_time.h"
#include "common/launch/one_rank.h"
#include "common/launch/supervise/memory_file.h"
#include "common/launch/supervise/run_in_child.h"
#include "common/log/check_log.h"
#include "common/log/sharing.h"

namespace lab {
namespace {

std::string read_log(const std::string& path) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw UsageError(
        fmt::format("check-log: cannot read {}: it is a folder; expected the log of a run, such as {}/NAME.log, or -",
                    path, path.substr(0, path.find_last_not_of('/') + 1)));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(fmt::format("check-log: cannot read {}; expected the log of a run, or -", path));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

constexpr const char* kMessageIndent = "           ";  // aligns with the message of a check

bool reached_todo(const TaskCheck& check) {
  return !check.missing_task().empty();
}

/// How the ranks shared the case's work, if that is known.
std::optional<log::Sharing> sharing_of_case(const CheckedCase& checked) {
  std::vector<ResourceUse> by_rank;
  for (const RankVerdict& rank : checked.ranks) by_rank.push_back(rank.used);
  if (!checked.right() || checked.of_one_process.flops == 0 || by_rank.size() < 2) return std::nullopt;
  return log::sharing_of(checked.name, by_rank, checked.of_one_process);
}

/// A line about the largest of a task's cases.
std::string text_of_sharing(const std::vector<CheckedCase>& cases) {
  const auto largest = std::max_element(cases.begin(), cases.end(), [](const CheckedCase& a, const CheckedCase& b) {
    return a.of_one_process.flops < b.of_one_process.flops;
  });
  const std::optional<log::Sharing> sharing = sharing_of_case(*largest);
  return sharing ? fmt::format("  {}: {}\n", sharing->name, text_of(*sharing)) : "";
}

std::string label_of(const CheckedCase& checked) {
  if (checked.failure) return "failed";
  return checked.too_expensive() ? "costly" : "wrong";
}

std::string message_of_case(const CheckedCase& checked) {
  if (checked.right() || checked.skipped()) return "";
  if (!checked.failure) return checked.reason();
  // Right results, but its world failed afterwards: for instance, a message was never received.
  return (checked.passed() ? "after it had returned: " : "") + checked.failure->message;
}

std::string text_of_case(const CheckedCase& checked) {
  std::string text = fmt::format("  {:<7}  {}: {}\n", label_of(checked), checked.name, message_of_case(checked));
  for (const std::string& line : checked.rank_lines) text += fmt::format("{}{}\n", kMessageIndent, line);
  if (checked.symptom) text += fmt::format("{}likely: {}\n", kMessageIndent, checked.symptom->message);
  return text;
}

/// The text after the task's id.
std::string headline(const TaskCheck& check) {
  const std::size_t num_ranks = check.cases.front().ranks.size();
  const std::string where = fmt::format("on {} rank{}", num_ranks, num_ranks == 1 ? "" : "s");
  if (reached_todo(check)) return fmt::format("not implemented: stops at TODO({})", check.missing_task());
  if (check.skipped()) return fmt::format("skipped {}: {}", where, check.cases.front().ranks.front().reason);
  const auto num_skipped = std::count_if(check.cases.begin(), check.cases.end(),
                                         [](const CheckedCase& checked) { return checked.skipped(); });
  const auto num_right =
      std::count_if(check.cases.begin(), check.cases.end(), [](const CheckedCase& checked) { return checked.right(); });
  return fmt::format("{} of {} checks right {}", num_right,
                     static_cast<std::ptrdiff_t>(check.cases.size()) - num_skipped, where);
}

nlohmann::json json_of_use(const ResourceUse& use) {
  return {{"flops", use.flops},
          {"peak_tensor_bytes", use.peak_bytes},
          {"retained_tensor_bytes", use.retained_bytes},
          {"model_time_ps", use.model_time.total}};
}

nlohmann::json json_of_case(const CheckedCase& checked) {
  nlohmann::json ranks = nlohmann::json::array();
  for (const RankVerdict& rank : checked.ranks) ranks.push_back(json_of_use(rank.used));
  return {{"name", checked.name},
          {"passed", checked.right()},
          {"skipped", checked.skipped()},
          {"words", message_of_case(checked)},
          {"symptom", checked.symptom ? checked.symptom->id : ""},
          {"likely", checked.symptom ? checked.symptom->message : ""},
          {"used", ranks},
          {"of_one_process", json_of_use(checked.of_one_process)}};
}

ExitCode compare_log(const LabProgram& program, const std::string& path, int num_ranks) {
  const std::vector<std::string> problems = log::check_log(read_log(path), expectation_of(program.steps(), num_ranks));
  for (const std::string& problem : problems) fmt::print("{}: {}\n", path, problem);
  if (!problems.empty()) return ExitCode::kMismatch;
  fmt::print("{}: accepted: exactly the lines of a right run on {}\n", path, counted(num_ranks, "rank"));
  return ExitCode::kAllMatch;
}

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
  app.set_action([&] { return compare_log(program, path, num_ranks); });
}

std::string check_text(const TaskCheck& check) {
  std::string text = fmt::format("{}: {}\n", check.task, headline(check));
  if (reached_todo(check)) return text;
  for (const CheckedCase& checked : check.cases) {
    if (!checked.right() && !checked.skipped()) text += text_of_case(checked);
  }
  return text + text_of_sharing(check.cases);
}

std::string summary_text(const std::vector<TaskCheck>& checks) {
  const auto num_passed =
      std::count_if(checks.begin(), checks.end(), [](const TaskCheck& check) { return check.passed(); });
  const auto num_skipped =
      std::count_if(checks.begin(), checks.end(), [](const TaskCheck& check) { return check.skipped(); });
  const auto num_todo = std::count_if(checks.begin(), checks.end(), reached_todo);
  std::string text = fmt::format("{} of {} tasks right", num_passed, checks.size());
  if (num_todo > 0) text += fmt::format(", {} not implemented", num_todo);
  if (num_skipped > 0) text += fmt::format(", {} skipped", num_skipped);
  return text + "\n";
}

std::string check_json(const std::vector<TaskCheck>& checks) {
  nlohmann::json document = nlohmann::json::array();
  for (const TaskCheck& check : checks) {
    nlohmann::json cases = nlohmann::json::array();
    for (const CheckedCase& checked : check.cases) cases.push_back(json_of_case(checked));
    document.push_back({{"task", check.task},
                        {"passed", check.passed()},
                        {"skipped", check.skipped()},
                        {"exit_code", check.exit_code()},
                        {"words", headline(check)},
                        {"checks", cases}});
  }
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

namespace {

struct CheckOptions {
  launch::WorldSpec world;
  std::uint64_t seed = 0;
  int num_shaken = 0;
  std::string name, json_file;
};

/// What the author of a solution is told of one run.
struct CheckReport {
  int exit_code = 0;
  std::string text, json;
};

CheckReport report_of(const std::vector<TaskCheck>& checks) {
  CheckReport report;
  for (const TaskCheck& check : checks) {
    report.text += check_text(check);
    if (report.exit_code == 0) report.exit_code = check.exit_code();
  }
  const bool shared = std::any_of(checks.begin(), checks.end(),
                                  [](const TaskCheck& check) { return !text_of_sharing(check.cases).empty(); });
  if (shared) report.text += fmt::format("model time: {}\n", rates_text(comm::ModelRates()));
  if (checks.size() > 1) report.text += summary_text(checks);
  report.json = check_json(checks);
  return report;
}

/// Runs the checks in another process: this one can fork no ranks any more once it has judged results.
CheckReport report_of_child(const std::string& what, const std::function<std::vector<TaskCheck>()>& checks) {
  const launch::MemoryFile file("report");
  launch::run_in_child(what, [&] {
    const CheckReport report = report_of(checks());
    write_fully(file.fd(), nlohmann::json{report.exit_code, report.text, report.json}.dump(
                               -1, ' ', false, nlohmann::json::error_handler_t::replace));
  });
  const auto fields = nlohmann::json::parse(launch::bytes_of(file.fd()));
  return {fields.at(0).get<int>(), fields.at(1).get<std::string>(), fields.at(2).get<std::string>()};
}

/// The report of the usual run; of the first shaken run that goes wrong, if there is one.
CheckReport shaken_report(const std::vector<Case>& cases, const LabProgram& program, const CheckOptions& options) {
  CheckReport usual = report_of_child("the run that is not shaken",
                                      [&] { return run_checks(cases, program.calls, options.world, options.seed); });
  if (usual.exit_code != 0) return usual;
  launch::WorldSpec world = options.world;
  world.kind = launch::WorldKind::kRelay;
  for (int run = 1; run <= options.num_shaken; ++run) {
    world.shake_seed = static_cast<std::uint64_t>(run);
    const std::string name = fmt::format("shaken run {} of {}", run, options.num_shaken);
    CheckReport shaken = report_of_child(name, [&] { return run_checks(cases, program.calls, world, options.seed); });
    if (shaken.exit_code == 0) continue;
    shaken.text =
        fmt::format("{} ({}):\n{}", name,
                    "the usual run is right, so the result depends on the order in which messages arrive, or a "
                    "tensor is changed or read before its message is complete",
                    shaken.text);
    return shaken;
  }
  usual.text += fmt::format("the same in {}\n", counted(options.num_shaken, "shaken run"));
  return usual;
}

ExitCode check_tasks(const LabProgram& program, const CheckOptions& options) {
  launch::use_threads(1);  // there must be no thread pool before a fork
  if (program.validate) program.validate(options.world.num_ranks);
  const std::vector<Case> all = program.cases();
  const std::vector<Case> cases = options.name.empty() ? all : named_cases(all, options.name, "check");
  if (!options.json_file.empty()) AtomicFile{options.json_file};  // cannot be written: reported before the run

  const CheckReport report = options.num_shaken == 0
                                 ? report_of(run_checks(cases, program.calls, options.world, options.seed))
                                 : shaken_report(cases, program, options);
  fmt::print("{}", report.text);
  if (!options.json_file.empty()) write_file_atomically(options.json_file, report.json);
  return static_cast<ExitCode>(report.exit_code);
}

}  // namespace

void check_command(cli::App& app, const LabProgram& program) {
  auto& options = app.own(CheckOptions());
  options.world = usual_world(program);
  options.seed = program.defaults.seed;
  app.add_argument("[TASK]", options.name, "a task, or one of its cases; none: all");
  app.add_integer("--nproc", options.world.num_ranks, {1, 4096}, "ranks to start");
  if (!program.ranks_option.empty())
    app.add_integer(program.ranks_option, options.world.num_ranks, {1, 4096}, "the same as --nproc");
  app.add_seed("--seed", options.seed, "of weights and data");
  app.add_timeout(options.world.timeout_seconds);
  app.add_integer("--shake", options.num_shaken, {0, 10000}, "more runs, in which messages arrive in other orders");
  app.add_text("--json", options.json_file, "FILE", "the results as JSON");
  app.set_action([&] { return check_tasks(program, options); });
}

}  // namespace lab
