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

std::string label_of(const CheckedCase& checked) {
  if (checked.failure) return "failed";
  return checked.too_expensive() ? "costly" : "wrong";
}

std::string words_of_case(const CheckedCase& checked) {
  if (checked.right() || checked.skipped()) return "";
  if (!checked.failure) return checked.words();
  // Right results, and then the end of its world: such as a message that nobody has received.
  return (checked.passed() ? "after it had returned: " : "") + checked.failure->sentence;
}

std::string text_of_case(const CheckedCase& checked) {
  std::string text = fmt::format("  {:<7}  {}: {}\n", label_of(checked), checked.name, words_of_case(checked));
  for (const std::string& line : checked.rank_lines) text += fmt::format("{}{}\n", kWordsIndent, line);
  if (checked.symptom) text += fmt::format("{}likely: {}\n", kWordsIndent, checked.symptom->sentence);
  return text;
}

/// What stands behind the task's id.
std::string headline(const TaskCheck& check) {
  const std::size_t num_ranks = check.cases.front().ranks.size();
  const std::string where = fmt::format("on {} rank{}", num_ranks, num_ranks == 1 ? "" : "s");
  if (reached_todo(check)) return fmt::format("not implemented: stops at TODO({})", check.missing_task());
  if (check.skipped()) return fmt::format("skipped {}: {}", where, check.cases.front().ranks.front().words);
  const auto num_skipped = std::count_if(check.cases.begin(), check.cases.end(),
                                         [](const CheckedCase& checked) { return checked.skipped(); });
  const auto num_right =
      std::count_if(check.cases.begin(), check.cases.end(), [](const CheckedCase& checked) { return checked.right(); });
  return fmt::format("{} of {} checks right {}", num_right,
                     static_cast<std::ptrdiff_t>(check.cases.size()) - num_skipped, where);
}

nlohmann::json json_of_case(const CheckedCase& checked) {
  return {{"name", checked.name},
          {"passed", checked.right()},
          {"skipped", checked.skipped()},
          {"words", words_of_case(checked)},
          {"symptom", checked.symptom ? checked.symptom->id : ""},
          {"likely", checked.symptom ? checked.symptom->sentence : ""}};
}

}  // namespace

std::string check_text(const TaskCheck& check) {
  std::string text = fmt::format("{}: {}\n", check.task, headline(check));
  if (reached_todo(check)) return text;
  for (const CheckedCase& checked : check.cases) {
    if (!checked.right() && !checked.skipped()) text += text_of_case(checked);
  }
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

}  // namespace lab
