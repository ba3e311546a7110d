#include "grading/batch/class_marks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "common/base/lab_names.h"
#include "grading/batch/csv.h"

namespace lab::grading {

std::vector<MarkedStudent> students_of(const ClassPlan& plan, const Roster* roster) {
  std::map<std::pair<std::size_t, std::string>, MarkedStudent> rows;  // by place in the roster, and folder
  const std::size_t after_roster = roster == nullptr ? 0 : roster->size();
  const auto add = [&](const PlannedHandIn& one, std::optional<std::size_t> row) {
    MarkedStudent& student = rows[{row.value_or(after_roster), one.who}];
    student.roster_row = row;
    student.identity = one.identity;
    student.who = one.who;
    if (!one.labs.empty()) student.hand_ins.push_back(one.hand_in.shown);
    student.is_late = student.is_late || (one.hand_in.is_late && !one.labs.empty());
    if (!one.scanned.problem.empty()) student.remarks.push_back("not graded: " + one.scanned.problem);
    student.remarks.insert(student.remarks.end(), one.notes.begin(), one.notes.end());
  };
  for (const PlannedHandIn& one : plan.hand_ins) {
    if (one.roster_rows.empty()) add(one, std::nullopt);
    for (const std::size_t row : one.roster_rows) add(one, row);
  }
  for (const std::size_t row : plan.missing) {
    MarkedStudent& student = rows[{row, ""}];
    student.roster_row = row;
    student.remarks.emplace_back("nothing handed in");
  }
  std::vector<MarkedStudent> students;
  for (auto& [place, student] : rows) students.push_back(std::move(student));
  return students;
}

std::string id_of(const Roster* roster, const MarkedStudent& student) {
  if (roster != nullptr && student.roster_row) return roster->id_of(*student.roster_row);
  return student.identity.id.empty() ? student.who : student.identity.id;
}

std::string marks_csv(const Roster* roster, const std::vector<MarkedStudent>& students,
                      const std::vector<std::string>& labs) {
  CsvRow headings = roster == nullptr ? CsvRow{"id", "name"} : roster->headings();
  headings.insert(headings.end(), {"who", "hand-in", "late"});
  for (const std::string& lab : labs) {
    for (const char* column : {"marks", "of", "pending", "not judged"})
      headings.push_back(fmt::format("{} {}", short_name_of(lab), column));
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
    row.push_back(fmt::format("{}", fmt::join(student.remarks, "; ")));
    csv += csv_line(row);
  }
  return csv;
}

}  // namespace lab::grading
