#include "common/lab/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lab {
namespace {

constexpr const char* kWordsIndent = "           ";  // under the words of a check

bool reached_todo(const TaskCheck& check) {
  return !check.missing_task().empty();
}

/// True if no rank has anything to say of the case: the world had ended before.
bool was_not_run(const CaseVerdict& verdict) {
  return std::all_of(verdict.ranks.begin(), verdict.ranks.end(), [](const RankVerdict& rank) {
    return rank.state == RankVerdict::State::kNoRecord || rank.state == RankVerdict::State::kNotAsked;
  });
}

/// True if the case ended on some rank before it returned.
bool broke_off(const CaseVerdict& verdict) {
  return std::any_of(verdict.ranks.begin(), verdict.ranks.end(), [](const RankVerdict& rank) {
    return rank.state == RankVerdict::State::kNoRecord || rank.state == RankVerdict::State::kThrew;
  });
}

/// The case in which the world failed: the first that broke off; none: it failed after the last.
const CaseVerdict* failed_case(const TaskCheck& check) {
  if (!check.failure) return nullptr;
  const auto found = std::find_if(check.cases.begin(), check.cases.end(), broke_off);
  return found == check.cases.end() ? nullptr : &*found;
}

std::string label_of(const TaskCheck& check, const CaseVerdict& verdict) {
  if (&verdict == failed_case(check)) return "failed";
  if (was_not_run(verdict)) return "not run";
  return verdict.too_expensive() ? "costly" : "wrong";
}

std::string words_of_case(const TaskCheck& check, const CaseVerdict& verdict) {
  if (verdict.passed() || verdict.skipped()) return "";
  if (&verdict == failed_case(check)) return check.failure->sentence;
  return was_not_run(verdict) ? "the run had ended before" : verdict.words();
}

std::string text_of_case(const TaskCheck& check, const CaseVerdict& verdict) {
  std::string text =
      fmt::format("  {:<7}  {}: {}\n", label_of(check, verdict), verdict.name, words_of_case(check, verdict));
  if (&verdict == failed_case(check)) {
    for (const std::string& line : check.rank_lines) text += fmt::format("{}{}\n", kWordsIndent, line);
  }
  if (verdict.symptom) text += fmt::format("{}likely: {}\n", kWordsIndent, verdict.symptom->sentence);
  return text;
}

/// What stands behind the task's id.
std::string headline(const TaskCheck& check) {
  const std::size_t num_ranks = check.cases.front().ranks.size();
  const std::string where = fmt::format("on {} rank{}", num_ranks, num_ranks == 1 ? "" : "s");
  if (reached_todo(check)) return fmt::format("not implemented: stops at TODO({})", check.missing_task());
  if (check.skipped()) return fmt::format("skipped {}: {}", where, check.cases.front().ranks.front().words);
  const auto num_skipped = std::count_if(check.cases.begin(), check.cases.end(),
                                         [](const CaseVerdict& verdict) { return verdict.skipped(); });
  const auto num_right = std::count_if(check.cases.begin(), check.cases.end(),
                                       [](const CaseVerdict& verdict) { return verdict.passed(); });
  return fmt::format("{} of {} checks right {}", num_right,
                     static_cast<std::ptrdiff_t>(check.cases.size()) - num_skipped, where);
}

nlohmann::json json_of_case(const TaskCheck& check, const CaseVerdict& verdict) {
  return {{"name", verdict.name},
          {"passed", verdict.passed()},
          {"skipped", verdict.skipped()},
          {"words", words_of_case(check, verdict)},
          {"symptom", verdict.symptom ? verdict.symptom->id : ""},
          {"likely", verdict.symptom ? verdict.symptom->sentence : ""}};
}

}  // namespace

std::string check_text(const TaskCheck& check) {
  std::string text = fmt::format("{}: {}\n", check.task, headline(check));
  if (reached_todo(check)) return text;
  for (const CaseVerdict& verdict : check.cases) {
    if (!verdict.passed() && !verdict.skipped()) text += text_of_case(check, verdict);
  }
  if (check.failure && failed_case(check) == nullptr)
    text += fmt::format("  failed   after the last check: {}\n", check.failure->sentence);
  return text;
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
    for (const CaseVerdict& verdict : check.cases) cases.push_back(json_of_case(check, verdict));
    document.push_back({{"task", check.task},
                        {"passed", check.passed()},
                        {"skipped", check.skipped()},
                        {"exit_code", check.exit_code()},
                        {"words", headline(check)},
                        {"checks", cases}});
  }
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace lab
