#include "grading/batch/class_overview.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/base/lab_names.h"
#include "common/base/text.h"
#include "common/page/html_page.h"
#include "embedded/grading/batch/pages.h"
#include "grading/marks/shown_marks.h"

namespace lab::grading {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostRows = 12;     // of a table of what is hardest
constexpr std::size_t kMostOfTask = 3;    // of its checks: they often fail together
constexpr double kSlow = 4;               // times the median
constexpr double kFewestSeconds = 30;     // below, nobody is slow
constexpr double kUnlikeOtherLabs = 0.5;  // of the marks
constexpr double kTallestRem = 6;         // of a histogram's columns

double compute_share(const LabMarks& marks) {
  return marks.total > 0 ? marks.marks / marks.total : 0;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Without what sorts last and is too much for a page.
template <typename Row, typename Before>
std::vector<Row> first_rows(std::vector<Row> rows, Before before, std::size_t most = kMostRows) {
  std::sort(rows.begin(), rows.end(), before);
  if (rows.size() > most) rows.resize(most);
  return rows;
}

std::string write_report(const MarkedStudent& student, const std::string& lab) {
  std::string page;
  for (const unsigned char c : student.who + "/" + lab + "/report.html") {
    const bool plain = std::isalnum(c) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
    page += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return page;
}

Json make_distribution(const std::string& lab, std::size_t number, const std::vector<MarkedStudent>& students) {
  std::vector<double> marks, counts(11);  // the last: everything, or more
  double total = 0;
  for (const MarkedStudent& student : students) {
    const auto found = student.labs.find(lab);
    if (found == student.labs.end()) continue;
    marks.push_back(found->second.marks);
    total = found->second.total;
    const double tenths = std::floor(compute_share(found->second) * 10 + 1e-9);
    counts[static_cast<std::size_t>(std::clamp(tenths, 0.0, 10.0))] += 1;
  }
  const double highest = *std::max_element(counts.begin(), counts.end());
  Json bars = Json::array();
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::string label = i == 10 ? "all" : fmt::format("{} %", 10 * i);
    texts.push_back(fmt::format("from {}: {:.0f}", label, counts[i]));
    bars.push_back({{"label", label},
                    {"count", fmt::format("{:.0f}", counts[i])},
                    {"height", fmt::format("{:.2f}", highest > 0 ? kTallestRem * counts[i] / highest : 0)}});
  }
  double sum = 0;
  for (const double one : marks) sum += one;
  return {{"number", number},
          {"name", lab},
          {"summary", fmt::format("{} of {} students; mean {}, median {} of {}", marks.size(), students.size(),
                                  shown_marks(marks.empty() ? 0 : sum / static_cast<double>(marks.size())),
                                  shown_marks(median(marks)), shown_marks(total))},
          {"bars", bars},
          {"bars_text", fmt::format("students by share of the marks: {}", fmt::join(texts, ", "))}};
}

Json make_row(const Roster* roster, const MarkedStudent& student, const std::vector<std::string>& labs) {
  Json cells = Json::array();
  double sum = 0;
  for (const std::string& lab : labs) {
    const auto found = student.labs.find(lab);
    if (found == student.labs.end()) {
      cells.push_back({{"value", ""}, {"page", ""}, {"marks", ""}, {"note", ""}});
      continue;
    }
    const LabMarks& marks = found->second;
    sum += marks.marks;
    std::string note;
    if (marks.pending > 0) note = shown_marks(marks.pending) + " pending";
    if (marks.not_judged > 0) note += (note.empty() ? "" : ", ") + shown_marks(marks.not_judged) + " not judged";
    cells.push_back({{"value", fmt::format("{}", marks.marks)},
                     {"page", write_report(student, lab)},
                     {"marks", shown_marks(marks.marks)},
                     {"note", note}});
  }
  const std::string name = roster != nullptr && student.roster_row ? roster->get_name(*student.roster_row) : "";
  return {{"id", find_id(roster, student)},
          {"name", name.empty() ? student.identity.name : name},
          {"cells", cells},
          {"sum", shown_marks(sum)},
          {"late", student.is_late},
          {"remarks", safe_text(fmt::format("{}", fmt::join(all_remarks(student), "; ")), 1000)}};
}

}  // namespace

void ClassOverview::add(const std::string& who, const LabMarks& marks, const LabOutcome& outcome) {
  if (!seen_.insert({who, marks.lab}).second) return;
  seconds_[{marks.lab, who}] = outcome.seconds;
  for (const MarkedItem& item : marks.items) {
    if (item.kind != MarkedItem::Kind::kTask || item.worth == Worth::kNotJudged) continue;
    Task& task = tasks_[item.id];
    task.title = item.title;
    ++task.num_judged;
    const bool passed = item.worth == Worth::kPassed;
    if (passed) ++task.num_passed;
    task.shares += item.out_of > 0 ? item.marks / item.out_of : passed ? 1 : 0;
  }
  for (const auto& [id, task] : outcome.tasks) {
    for (const CaseVerdict& check : task.checks) {
      if (check.worth == Worth::kSkipped || check.worth == Worth::kNotJudged) continue;
      Check& counted = checks_[{id, check.name}];
      ++counted.num_judged;
      if (check.worth != Worth::kPassed) ++counted.num_failed;
      if (check.symptom.message.empty()) continue;
      causes_[check.symptom.message].hand_ins.insert(who);
      causes_[check.symptom.message].tasks.insert(id);
    }
  }
}

std::string ClassOverview::html(const Roster* roster, const std::vector<MarkedStudent>& students,
                                const std::vector<std::string>& labs, const std::string& similarity) const {
  Json distributions = Json::array(), names = Json::array();
  for (const std::string& lab : labs) {
    distributions.push_back(make_distribution(lab, distributions.size() + 1, students));
    names.push_back(shorten_name(lab));
  }

  const auto mean = [](const Task& task) { return task.shares / task.num_judged; };
  Json tasks = Json::array();
  using TaskRow = std::pair<std::string, Task>;
  for (const auto& [id, task] :
       first_rows(std::vector<TaskRow>(tasks_.begin(), tasks_.end()), [&](const TaskRow&a, const TaskRow&b) {
         return std::make_pair(mean(a.second), a.first) < std::make_pair(mean(b.second), b.first);
       }))
    tasks.push_back({{"id", id},
                     {"title", task.title},
                     {"passed", task.num_passed},
                     {"of", task.num_judged},
                     {"share", fmt::format("{:.0f}", 100 * mean(task))}});

  Json checks = Json::array();
  using CheckRow = std::pair<std::pair<std::string, std::string>, Check>;
  std::map<std::string, std::vector<CheckRow>> by_task;
  for (const auto& [task_and_name, check] : checks_) by_task[task_and_name.first].emplace_back(task_and_name, check);
  const auto harder = [](const CheckRow& a, const CheckRow& b) {
    return std::make_pair(-a.second.num_failed, a.first) < std::make_pair(-b.second.num_failed, b.first);
  };
  std::vector<CheckRow> of_all_tasks;
  for (const auto& named : by_task) {
    const std::vector<CheckRow> rows = first_rows(named.second, harder, kMostOfTask);
    of_all_tasks.insert(of_all_tasks.end(), rows.begin(), rows.end());
  }
  for (const auto& [name, check] : first_rows(of_all_tasks, harder)) {
    if (check.num_failed == 0) break;
    checks.push_back(
        {{"name", name.second}, {"task", name.first}, {"failed", check.num_failed}, {"of", check.num_judged}});
  }

  Json causes = Json::array();
  using CauseRow = std::pair<std::string, Cause>;
  for (const auto& [text, cause] :
       first_rows(std::vector<CauseRow>(causes_.begin(), causes_.end()), [](const CauseRow&a, const CauseRow&b) {
         const auto size_a = a.second.hand_ins.size();
         const auto size_b = b.second.hand_ins.size();
         return size_a != size_b ? size_a > size_b : a.first < b.first;
       }))
    causes.push_back(
        {{"cause", text}, {"tasks", fmt::format("{}", fmt::join(cause.tasks, " "))}, {"count", cause.hand_ins.size()}});

  std::map<std::string, double> usual_seconds;
  for (const std::string& lab : labs) {
    std::vector<double> of_lab;
    for (const auto& [key, seconds] : seconds_) {
      if (key.first == lab) of_lab.push_back(seconds);
    }
    usual_seconds[lab] = median(of_lab);
  }
  Json outliers = Json::array(), rows = Json::array();
  for (const MarkedStudent& student : students) {
    rows.push_back(make_row(roster, student, labs));
    double shares = 0;
    for (const auto& [lab, marks] : student.labs) shares += compute_share(marks);
    const auto stands_out = [&](const std::string& lab, const std::string& why) {
      outliers.push_back({{"who", find_id(roster, student)}, {"page", write_report(student, lab)}, {"why", why}});
    };
    for (const auto& [lab, marks] : student.labs) {
      const auto seconds = seconds_.find({lab, student.who});
      const double usual = usual_seconds[lab];
      if (seconds != seconds_.end() && seconds->second > kFewestSeconds && seconds->second > kSlow * usual)
        stands_out(lab, fmt::format("judging {} took {:.0f} s, where {:.0f} s is usual", lab, seconds->second, usual));
      if (student.labs.size() < 2) continue;
      const double others = (shares - compute_share(marks)) / static_cast<double>(student.labs.size() - 1);
      if (std::abs(compute_share(marks) - others) >= kUnlikeOtherLabs)
        stands_out(lab, fmt::format("{:.0f} % of {}, but {:.0f} % of the other labs", 100 * compute_share(marks), lab,
                                    100 * others));
    }
  }

  const std::string headline = "A class of " + counted(students.size(), "student");
  return page::html_page(headline, embedded::kOverviewMustache,
                         {{"headline", headline},
                          {"subtitle", counted(seen_.size(), "graded lab") + " in all"},
                          {"similarity", similarity},
                          {"labs", distributions},
                          {"lab_names", names},
                          {"tasks", tasks},
                          {"has_checks", !checks.empty()},
                          {"checks", checks},
                          {"has_causes", !causes.empty()},
                          {"causes", causes},
                          {"has_outliers", !outliers.empty()},
                          {"outliers", outliers},
                          {"students", rows}},
                         embedded::kOverviewJs);
}

}  // namespace lab::grading
