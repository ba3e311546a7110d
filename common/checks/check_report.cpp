#include "common/checks/check_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/api/errors.h"
#include "common/base/costs_json.h"
#include "common/log/sharing.h"

namespace lab {
namespace {

using Outcome = JunitCase::Outcome;

std::string string_in(const nlohmann::json& json, const char* key) {
  return json.value(key, std::string());
}

JunitCase make_case(const std::string& lab, const nlohmann::json& task, const nlohmann::json& check) {
  JunitCase one;
  one.class_name = lab;
  one.name = string_in(task, "task") + ": " + string_in(check, "name");
  if (task.at("todo")) {
    one.outcome = Outcome::kFailed;
    one.message = string_in(task, "message");
  } else if (check.at("skipped")) {
    one.outcome = Outcome::kSkipped;
    one.message = string_in(check, "message");
  } else if (!check.at("passed")) {
    one.outcome = check.at("ended_world") ? Outcome::kError : Outcome::kFailed;
    const std::string likely = string_in(check, "likely");
    one.message = string_in(check, "message") + (likely.empty() ? "" : "; likely: " + likely);
    one.text = string_in(task, "heading") + string_in(task, "task") + ": " + string_in(task, "message") + "\n" +
               string_in(check, "text");
  }
  return one;
}

}  // namespace

JunitSuite junit_suite(const std::string& lab, const std::string& json) {
  JunitSuite suite = {lab, {}};
  for (const nlohmann::json& task : nlohmann::json::parse(json)) {
    for (const nlohmann::json& check : task.at("checks")) suite.cases.push_back(make_case(lab, task, check));
  }
  return suite;
}

namespace {

constexpr const char* kMessageIndent = "           ";  // aligns with the message of a check

/// How the ranks shared the case's work, if that is known.
std::optional<log::Sharing> sharing_of_case(const CaseVerdict& checked) {
  std::vector<ResourceUse> by_rank;
  for (const RankVerdict& rank : checked.ranks) by_rank.push_back(rank.used);
  if (!checked.passed() || checked.of_one_process.flops == 0 || by_rank.size() < 2) return std::nullopt;
  return log::describe_sharing(checked.name, by_rank, checked.of_one_process);
}

std::string make_label(const CaseVerdict& checked) {
  if (!checked.failure.empty()) return "failed";
  return checked.too_expensive() ? "costly" : "wrong";
}

std::string message_of_case(const CaseVerdict& checked) {
  if (checked.failure.empty()) return checked.reason;
  // Right results, but its world failed afterwards: for instance, a message was never received.
  if (checked.reason.empty()) return "after it had returned: " + checked.failure;
  const std::string with_rank = ": " + checked.failure;  // that all ranks threw, and so has no rank's number
  const bool says_the_same =
      checked.reason.size() > with_rank.size() &&
      checked.reason.compare(checked.reason.size() - with_rank.size(), with_rank.size(), with_rank) == 0;
  return says_the_same ? checked.reason : checked.failure;
}

std::string text_of_case(const CaseVerdict& checked) {
  std::string text = fmt::format("  {:<7}  {}: {}\n", make_label(checked), checked.name, message_of_case(checked));
  for (const std::string& line : checked.rank_lines) text += fmt::format("{}{}\n", kMessageIndent, line);
  if (!checked.symptom.id.empty()) text += fmt::format("{}likely: {}\n", kMessageIndent, checked.symptom.message);
  return text;
}

/// What is the same for checks that only repeat each other: the likely cause, or else all that is said.
std::string name_cause(const CaseVerdict& checked) {
  if (!checked.symptom.id.empty()) return make_label(checked) + checked.symptom.message;
  return fmt::format("{} {} {}", make_label(checked), message_of_case(checked), fmt::join(checked.rank_lines, "\n"));
}

/// The text of the first check, and the names of those that repeat it.
std::string text_of_cause(const std::vector<std::string>& checks) {
  if (checks.size() == 1) return checks.front();
  return fmt::format("{}{}and {} the same: {}\n", checks.front(), kMessageIndent,
                     checks.size() == 2 ? "1 more check says" : fmt::format("{} more checks say", checks.size() - 1),
                     fmt::join(checks.begin() + 1, checks.end(), " "));
}

/// The text after the task's id.
std::string headline(const TaskOutcome& task) {
  const std::size_t num_ranks = task.checks.front().ranks.size();
  const std::string where = fmt::format("on {} rank{}", num_ranks, num_ranks == 1 ? "" : "s");
  if (!task.missing_task.empty()) return fmt::format("not implemented: stops at TODO({})", task.missing_task);
  if (task.skipped()) return fmt::format("skipped {}: {}", where, task.checks.front().ranks.front().reason);
  const auto num_skipped = std::count_if(task.checks.begin(), task.checks.end(),
                                         [](const CaseVerdict& checked) { return checked.skipped(); });
  const auto num_right = std::count_if(task.checks.begin(), task.checks.end(),
                                       [](const CaseVerdict& checked) { return checked.passed(); });
  return fmt::format("{} of {} checks right {}", num_right,
                     static_cast<std::ptrdiff_t>(task.checks.size()) - num_skipped, where);
}

nlohmann::json json_of_use(const ResourceUse& use) {
  return {{"flops", use.flops},
          {"peak_tensor_bytes", use.memory.peak_bytes},
          {"retained_tensor_bytes", use.memory.retained_bytes},
          {"model_time_ps", use.model_time.total}};
}

nlohmann::json json_of_case(const CaseVerdict& checked) {
  nlohmann::json ranks = nlohmann::json::array();
  for (const RankVerdict& rank : checked.ranks) ranks.push_back(json_of_use(rank.used));
  nlohmann::json json = {{"name", checked.name},
                         {"passed", checked.passed()},
                         {"skipped", checked.skipped()},
                         {"message", checked.skipped() ? checked.ranks.front().reason : message_of_case(checked)},
                         {"text", checked.is_fine() ? "" : text_of_case(checked)},
                         {"label", checked.is_fine() ? "" : make_label(checked)},
                         {"rank_lines", checked.rank_lines},
                         {"ended_world", !checked.failure.empty()},
                         {"symptom", checked.symptom.id},
                         {"likely", checked.symptom.message},
                         {"most_of_a_rank", checked.used},
                         {"at_most", checked.limits},
                         {"used", ranks},
                         {"of_one_process", json_of_use(checked.of_one_process)}};
  if (!checked.timeline.empty()) json["timeline"] = nlohmann::json::parse(checked.timeline);
  return json;
}

}  // namespace

int choose_exit_code(const TaskOutcome& task) {
  if (!task.missing_task.empty()) return static_cast<int>(ExitCode::kNotImplemented);
  for (const CaseVerdict& checked : task.checks) {
    if (!checked.failure.empty()) return checked.failure_code;
  }
  return static_cast<int>(task.passed() || task.skipped() ? ExitCode::kAllMatch : ExitCode::kMismatch);
}

std::string text_of_sharing(const std::vector<CaseVerdict>& cases) {
  const auto largest = std::max_element(cases.begin(), cases.end(), [](const CaseVerdict& a, const CaseVerdict& b) {
    return a.of_one_process.flops < b.of_one_process.flops;
  });
  const std::optional<log::Sharing> sharing = sharing_of_case(*largest);
  return sharing ? fmt::format("  {}: {}\n", sharing->name, get_text(*sharing)) : "";
}

std::string check_text(const TaskOutcome& task) {
  std::string text = fmt::format("{}: {}\n", task.id, headline(task));
  if (!task.missing_task.empty()) return text;
  std::vector<std::string> causes;
  std::map<std::string, std::vector<std::string>> checks_of_cause;
  for (const CaseVerdict& checked : task.checks) {
    if (checked.is_fine()) continue;
    std::vector<std::string>& checks = checks_of_cause[name_cause(checked)];
    if (checks.empty()) causes.push_back(name_cause(checked));
    checks.push_back(checks.empty() ? text_of_case(checked) : checked.name);
  }
  for (const std::string& cause : causes) text += text_of_cause(checks_of_cause.at(cause));
  return text + text_of_sharing(task.checks);
}

void Summary::add(bool passed, bool todo, bool skipped) {
  ++num_tasks_;
  if (passed) ++num_passed_;
  if (todo) ++num_todo_;
  if (skipped) ++num_skipped_;
}

std::string Summary::text() const {
  std::string text = fmt::format("{} of {} tasks right", num_passed_, num_tasks_);
  if (num_todo_ > 0) text += fmt::format(", {} not implemented", num_todo_);
  if (num_skipped_ > 0) text += fmt::format(", {} skipped", num_skipped_);
  return text + "\n";
}

std::string check_json(const std::vector<TaskOutcome>& tasks) {
  nlohmann::json document = nlohmann::json::array();
  for (const TaskOutcome& task : tasks) {
    nlohmann::json cases = nlohmann::json::array();
    for (const CaseVerdict& checked : task.checks) cases.push_back(json_of_case(checked));
    document.push_back({{"task", task.id},
                        {"passed", task.passed()},
                        {"skipped", task.skipped()},
                        {"todo", !task.missing_task.empty()},
                        {"exit_code", choose_exit_code(task)},
                        {"message", headline(task)},
                        {"ranks", task.checks.front().ranks.size()},
                        {"checks", cases}});
  }
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace lab
