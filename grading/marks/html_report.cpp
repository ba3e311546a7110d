#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/page/result_page.h"
#include "common/page/shown_costs.h"
#include "grading/marks/shown_marks.h"
#include "grading/marks/shown_to_student.h"
#include "grading/marks/writers.h"

namespace lab::grading {
namespace {

using page::Standing;

Standing find_standing(Worth worth) {
  switch (worth) {
    case Worth::kPassed: return Standing::kRight;
    case Worth::kPending:
    case Worth::kNotJudged: return Standing::kOpen;
    default: return Standing::kWrong;
  }
}

std::string make_label(Worth worth) {
  switch (worth) {
    case Worth::kTooExpensive: return "costly";
    case Worth::kNotJudged: return "not judged";
    case Worth::kNotRun: return "not run";
    default: return "wrong";
  }
}

page::ShownCheck shown_check(const CaseVerdict& check) {
  page::ShownCheck shown;
  shown.name = check.name;
  shown.label = make_label(check.worth);
  if (check.worth == Worth::kNotJudged) shown.standing = Standing::kOpen;
  shown.message = check.reason;
  shown.likely = check.symptom.message;
  shown.costs = page::shown_costs(check.used, check.limits);
  shown.timeline = check.timeline;
  return shown;
}

/// The item's checks, and the findings that are not about one of them.
void add_checks(const TaskOutcome& task, const ShownToStudent& shown, page::ShownItem& item) {
  for (const CaseVerdict& check : task.checks) {
    const std::string line = describe_finding(check);
    if (check.worth == Worth::kPassed) item.right_checks.push_back(check.name);
    if (line.empty()) continue;
    const std::string shown_line = shown.lines({line}).front();
    if (shown_line == line) item.checks.push_back(shown_check(check));
    item.findings.erase(std::remove(item.findings.begin(), item.findings.end(), shown_line), item.findings.end());
  }
}

}  // namespace

std::string to_html(const LabMarks& all, const LabOutcome& outcome) {
  const ShownToStudent shown(all, outcome);
  const LabMarks& marks = shown.marks();
  page::ResultPage report;
  report.headline = headline(marks);
  report.title = marks.title;
  if (shown.num_hidden() > 0) report.warning = kNotShownNote;
  if (marks.not_judged > 0) report.warning += std::string(report.warning.empty() ? "" : " ") + kNotJudgedNote;
  if (marks.total > 0) report.share = marks.marks / marks.total;
  report.has_marks = true;
  for (const MarkedItem& marked : marks.items) {
    page::ShownItem& item = report.items.emplace_back();
    item.id = marked.id;
    item.title = marked.title;
    item.standing = find_standing(marked.worth);
    item.label = get_name(marked.worth);
    const bool has_marks = !has_no_marks(marked);
    if (marked.out_of > 0) {
      item.marks = has_marks ? shown_marks(marked.marks) : "";
      item.out_of = shown_marks(marked.out_of);
      if (has_marks) item.short_text = item.marks + " of " + item.out_of;
    }
    std::vector<std::string> remarks = waiting_for(marked);
    if (marked.bonus) remarks.insert(remarks.begin(), "bonus");
    item.remark = fmt::format("{}", fmt::join(remarks, "; "));
    item.findings = marked.findings;
    const auto task = outcome.tasks.find(marked.id);
    if (task == outcome.tasks.end()) continue;
    add_checks(task->second, shown, item);
    if (item.standing != Standing::kRight) item.hint = "./lab hint " + marked.id;
  }
  for (const std::vector<std::string>& lines : {evidence_lines(outcome), all_notes(outcome)}) {
    const std::vector<std::string> visible = shown.lines(lines);
    report.notes.insert(report.notes.end(), visible.begin(), visible.end());
  }
  if (!outcome.isolation.empty()) report.facts.push_back({"isolation", outcome.isolation});
  if (!outcome.seed.empty()) report.facts.push_back({"the same inputs again", "lab grade " + outcome.seed});
  report.facts.push_back({"seconds", fmt::format("{:.1f}", outcome.seconds)});
  return page::to_html(report);
}

}  // namespace lab::grading
