#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/text.h"
#include "grading/marks/shown_marks.h"
#include "grading/marks/shown_to_student.h"
#include "grading/marks/writers.h"

namespace lab::grading {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// JSON has neither NaN nor infinity.
double finite_or_zero(double number) {
  return std::isfinite(number) ? number : 0;
}

/// As many lines as a report may have, each truncated.
std::string bounded_lines(const std::vector<std::string>& lines, std::size_t max_bytes) {
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), ReportLimits::kMaxLines); ++i)
    text += (i == 0 ? "" : "\n") + safe_text(lines[i], max_bytes);
  if (lines.size() > ReportLimits::kMaxLines)
    text += fmt::format("\n... and {} more", lines.size() - ReportLimits::kMaxLines);
  return text;
}

std::string get_name(MarkedItem::Kind kind) {
  switch (kind) {
    case MarkedItem::Kind::kTask: return "task";
    case MarkedItem::Kind::kManual: return "manual";
    case MarkedItem::Kind::kLadder: return "ladder";
    case MarkedItem::Kind::kBonus: return "bonus";
  }
  return "";
}

OrderedJson make_extra_data(const MarkedItem& item, const LabOutcome& outcome) {
  OrderedJson checks = OrderedJson::array();
  if (const auto task = outcome.tasks.find(item.id); task != outcome.tasks.end()) {
    for (const CaseVerdict& check : task->second.checks) {
      checks.push_back({{"name", check.name}, {"state", get_name(check.worth)}, {"symptom", check.symptom.id}});
    }
  }
  return {{"id", item.id},
          {"state", get_name(item.worth)},
          {"pending", finite_or_zero(item.pending)},
          {"not_judged", finite_or_zero(item.not_judged)},
          {"attached", item.attached},
          {"checks", std::move(checks)}};
}

OrderedJson make_test(const MarkedItem& item, std::size_t number, const LabOutcome& outcome,
                      const ShownToStudent& shown) {
  const bool visible = item.visibility == Visibility::kVisible;
  OrderedJson tags = {get_name(item.kind)};
  if (item.bonus && item.kind != MarkedItem::Kind::kBonus) tags.push_back("bonus");
  const bool not_judged = item.worth == Worth::kNotJudged;
  OrderedJson test = OrderedJson::object();
  if (!not_judged || item.marks > 0) test["score"] = finite_or_zero(item.marks);  // no score differs from 0
  test["max_score"] = finite_or_zero(item.out_of);
  if (item.worth != Worth::kPending && !not_judged) test["status"] = item.worth == Worth::kPassed ? "passed" : "failed";
  test["name"] = fmt::format("{} ({})", item.title, item.id);
  test["name_format"] = "text";
  test["number"] = fmt::format("{}", number);
  test["output"] = item.findings.empty() ? get_name(item.worth)
                                         : bounded_lines(visible ? shown.lines(item.findings) : item.findings,
                                                         ReportLimits::kFindingBytes);
  test["output_format"] = "text";
  test["tags"] = std::move(tags);
  test["visibility"] = to_text(item.visibility);
  test["extra_data"] = make_extra_data(item, outcome);
  return test;
}

std::string run_for_output(const ShownToStudent& shown, const LabOutcome& outcome) {
  std::string output = headline(shown.marks()) + "\n";
  if (shown.num_hidden() > 0) output += std::string(kNotShownNote) + "\n";
  if (shown.marks().not_judged > 0) output += std::string(kNotJudgedNote) + "\n";
  if (!outcome.isolation.empty())
    output += "isolation: " + safe_text(outcome.isolation, ReportLimits::kFindingBytes) + "\n";
  if (!outcome.seed.empty())
    output += "same inputs again: " + safe_text(outcome.seed, ReportLimits::kFindingBytes) + "\n";
  if (!outcome.evidence.empty())
    output += "\n" + bounded_lines(shown.lines(evidence_lines(outcome)), ReportLimits::kFindingBytes) + "\n";
  if (const std::vector<std::string> notes = all_notes(outcome); !notes.empty())
    output += "\n" + bounded_lines(shown.lines(notes), ReportLimits::kNoteBytes) + "\n";
  return output;
}

}  // namespace

std::string to_gradescope_json(const LabMarks& marks, const LabOutcome& outcome) {
  const ShownToStudent shown(marks, outcome);
  OrderedJson tests = OrderedJson::array();
  double score = 0;
  for (const MarkedItem& item : marks.items) {
    tests.push_back(make_test(item, tests.size() + 1, outcome, shown));
    score += finite_or_zero(item.marks);
  }
  const OrderedJson results = {{"score", score},
                               {"execution_time", finite_or_zero(outcome.seconds)},
                               {"output", run_for_output(shown, outcome)},
                               {"output_format", "text"},
                               {"test_output_format", "text"},
                               {"test_name_format", "text"},
                               {"visibility", "visible"},
                               {"stdout_visibility", "hidden"},
                               {"extra_data",
                                {{"lab", marks.lab},
                                 {"total", finite_or_zero(marks.total)},
                                 {"pending", finite_or_zero(marks.pending)},
                                 {"not_judged", finite_or_zero(marks.not_judged)},
                                 {"isolation", safe_text(outcome.isolation, ReportLimits::kFindingBytes)},
                                 {"seed", safe_text(outcome.seed, ReportLimits::kFindingBytes)}}},
                               {"tests", std::move(tests)},
                               {"leaderboard", OrderedJson::array()}};
  return results.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace lab::grading
