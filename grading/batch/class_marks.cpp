#include "grading/batch/class_marks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "common/base/lab_names.h"
#include "grading/batch/csv.h"
#include "grading/marks/shown_marks.h"

namespace lab::grading {

std::vector<MarkedStudent> list_students(const ClassPlan& plan, const Roster* roster) {
  std::map<std::pair<std::size_t, std::string>, MarkedStudent> rows;  // by place in the roster, and folder
  const std::size_t after_roster = roster == nullptr ? 0 : roster->size();
  const auto add = [&](const PlannedHandIn& one, std::optional<std::size_t> row) {
    MarkedStudent& student = rows[{row.value_or(after_roster), one.who}];
    student.roster_row = row;
    student.identity = one.identity;
    student.who = one.who;
    if (!one.labs.empty()) student.hand_ins.push_back(one.hand_in.shown);
    for (const std::string& lab : one.labs) {
      student.handed_in[lab] = one.scanned.versions.at(lab);
      if (one.disputed.count(lab) != 0) student.withheld[lab] = "several hand-ins have this student's signature";
    }
    student.is_late = student.is_late || (one.hand_in.is_late && !one.labs.empty());
    student.open.insert(student.open.end(), one.open.begin(), one.open.end());
    student.remarks.insert(student.remarks.end(), one.notes.begin(), one.notes.end());
  };
  for (const PlannedHandIn& one : plan.hand_ins) {
    if (one.roster_rows.empty()) add(one, std::nullopt);
    for (const std::size_t row : one.roster_rows) add(one, row);
  }
  for (const std::size_t row : plan.missing) {
    MarkedStudent& student = rows[{row, ""}];
    student.roster_row = row;
    if (roster->find_id(row).empty()) {
      student.open.push_back(roster->why_unidentified());
    } else {
      student.remarks.emplace_back("nothing handed in");
    }
  }
  std::vector<MarkedStudent> students;
  for (auto& [place, student] : rows) {
    if (!student.who.empty() && student.hand_ins.empty() && student.open.empty())
      student.open.emplace_back("nothing of what was handed in counts");
    students.push_back(std::move(student));
  }
  return students;
}

std::string why_not_final(const MarkedStudent& student, const std::string& lab, bool with_pending) {
  const auto found = student.labs.find(lab);
  if (!student.roster_row) return "not in the roster";
  if (found == student.labs.end() || student.handed_in.count(lab) == 0) return "nothing of it was graded";
  if (const auto why = student.withheld.find(lab); why != student.withheld.end()) return why->second;
  const LabMarks& marks = found->second;
  if (!std::isfinite(marks.marks)) return "the marks are not a number";
  if (marks.not_judged > 0) return shown_marks(marks.not_judged) + " marks are not judged";
  if (marks.pending > 0 && !with_pending) return shown_marks(marks.pending) + " marks are pending";
  return "";
}

std::vector<std::string> all_remarks(const MarkedStudent& student) {
  std::vector<std::string> all = student.open;
  all.insert(all.end(), student.remarks.begin(), student.remarks.end());
  return all;
}

std::string find_id(const Roster* roster, const MarkedStudent& student) {
  if (roster != nullptr && student.roster_row) return roster->find_id(*student.roster_row);
  return student.identity.id.empty() ? student.who : student.identity.id;
}

std::string marks_csv(const Roster* roster, const std::vector<MarkedStudent>& students,
                      const std::vector<std::string>& labs) {
  CsvRow headings = roster == nullptr ? CsvRow{"id", "name"} : roster->headings();
  headings.insert(headings.end(), {"who", "hand-in", "late"});
  for (const std::string& lab : labs) {
    for (const char* column : {"marks", "of", "pending", "not judged"})
      headings.push_back(fmt::format("{} {}", shorten_name(lab), column));
  }
  headings.emplace_back("remarks");
  std::string csv = csv_line(headings);
  for (const MarkedStudent& student : students) {
    CsvRow row = roster == nullptr    ? CsvRow{student.identity.id, student.identity.name}
                 : student.roster_row ? roster->row(*student.roster_row)
                                      : CsvRow(roster->headings().size());
    row.insert(row.end(),
               {student.who, fmt::format("{}", fmt::join(student.hand_ins, " ")), student.is_late ? "late" : ""});
    for (const std::string& lab : labs) {
      const auto marks = student.labs.find(lab);
      if (marks == student.labs.end()) {
        row.resize(row.size() + 4);
        continue;
      }
      for (const double number :
           {marks->second.marks, marks->second.total, marks->second.pending, marks->second.not_judged})
        row.push_back(fmt::format("{}", number));
    }
    row.push_back(fmt::format("{}", fmt::join(all_remarks(student), "; ")));
    csv += csv_line(row);
  }
  return csv;
}

}  // namespace lab::grading
