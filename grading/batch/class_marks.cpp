#include "grading/batch/class_marks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/lab_names.h"
#include "common/course/rubric/rubric_check.h"
#include "grading/batch/csv.h"

namespace lab::grading {

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
