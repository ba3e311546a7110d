#include "grading/batch/gradebook_import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <utility>

#include "common/base/errors.h"
#include "common/base/lab_names.h"
#include "common/base/option_value.h"
#include "common/base/text.h"
#include "grading/marks/shown_marks.h"
#include "grading/marks/shown_to_student.h"

namespace lab::grading {
namespace {

constexpr char kCanvas[] = "canvas.csv";
constexpr char kMoodle[] = "moodle.csv";
constexpr char kGrade[] = "Grade", kMaximum[] = "Maximum Grade", kFeedback[] = "Feedback comments";

/// What Canvas has before a student's marks, in whatever order.
const std::set<std::string> kCanvasStudent = {"Student",      "LastName",       "FirstName",    "ID",     "SIS User ID",
                                              "SIS Login ID", "Integration ID", "Root Account", "Section"};
/// By these a platform finds a student; a name or section is only read by people.
const std::set<std::string> kIdentifiers = {"ID",           "SIS User ID", "SIS Login ID",  "Integration ID",
                                            "Root Account", "Identifier",  "Email address", "ID number",
                                            "Username"};

bool is_canvas(const CsvRow& headings) {
  const auto has = [&](const char* heading) {
    return std::find(headings.begin(), headings.end(), heading) != headings.end();
  };
  return (headings.front() == "Student" || headings.front() == "LastName") && has("ID") && has("Section");
}

/// "A9 Collectives" of "A9 Collectives (123456)".
std::string assignment_name(const std::string& heading) {
  const std::size_t bracket = heading.rfind(" (");
  return bracket == std::string::npos ? heading : heading.substr(0, bracket);
}

/// The name's parts of letters and digits, in lower case: "a9" is one of "Assignment A9: collectives", not of "A90".
std::set<std::string> words_in(const std::string& name) {
  std::set<std::string> words;
  std::string word;
  for (const char c : name + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      words.insert(std::exchange(word, ""));
    }
  }
  return words;
}

/// What may not be filled in: Canvas calculates it.
bool is_calculated(const Roster& roster, std::size_t column) {
  const CsvRow& points = roster.points_possible();
  if (column < points.size() && points[column].find("read only") != std::string::npos) return true;
  const std::string& heading = roster.headings()[column];
  for (const char* calculated : {"Score", "Points", "Grade", "Status"}) {
    for (const char* which : {"Current ", "Final ", "Override "}) {
      if (heading.find(std::string(which) + calculated) != std::string::npos) return true;
    }
  }
  return false;
}

std::string mark_text(double marks) {
  return fmt::format("{}", std::floor(marks * 100 + 1e-6) / 100);  // sums may be a few bits too small
}

bool is_final(const LabMarks& marks, bool with_pending) {
  return std::isfinite(marks.marks) && marks.not_judged == 0 && (with_pending || marks.pending == 0);
}

std::string html(const std::string& text) {
  std::string escaped;
  for (const char c : safe_text(one_line(text), 500)) {
    switch (c) {
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '&': escaped += "&amp;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

/// Moodle shows it as HTML.
std::string feedback_of(const LabMarks& marks) {
  const ShownToStudent shown(marks, {});
  std::string text = html(headline(shown.marks()));
  if (shown.num_hidden() > 0) text += "<br>" + html(kNotShownNote);
  for (const MarkedItem& item : shown.marks().items) {
    if (item.out_of > 0)
      text += "<br>" + html(fmt::format("{}: {} of {}", item.title, shown_marks(item.marks), shown_marks(item.out_of)));
  }
  return text;
}

/// The marks of a row's student for a lab, if there are any; two hand-ins of one student, by different names, are none.
struct MarksOfRow {
  const LabMarks* marks = nullptr;
  bool twice = false;
};

MarksOfRow marks_of_row(const std::vector<MarkedStudent>& students, std::size_t row, const std::string& lab) {
  MarksOfRow found;
  for (const MarkedStudent& student : students) {
    const auto marks = student.labs.find(lab);
    if (student.roster_row != row || marks == student.labs.end()) continue;
    found.twice = found.marks != nullptr;
    found.marks = &marks->second;
  }
  return found;
}

std::optional<double> total_of(const std::vector<MarkedStudent>& students, const std::string& lab) {
  for (const MarkedStudent& student : students) {
    if (const auto marks = student.labs.find(lab); marks != student.labs.end()) return marks->second.total;
  }
  return std::nullopt;
}

/// What the platform says is the most for a column: Canvas above the students, Moodle in each row.
std::optional<double> most_in(const Roster& roster, std::optional<std::size_t> column) {
  const bool is_above = !roster.points_possible().empty();
  if (!column || (!is_above && roster.size() == 0)) return std::nullopt;
  const CsvRow& row = is_above ? roster.points_possible() : roster.row(0);
  return option::integer<double>(one_line(row[*column]));
}

std::string note_of_total(std::optional<double> ours, std::optional<double> theirs) {
  if (!ours || !theirs || *ours == *theirs) return "";
  return fmt::format("the platform counts {} marks, the rubric {}; they are not scaled", *theirs, *ours);
}

}  // namespace

GradebookImport::GradebookImport(const Roster& roster, const std::vector<std::string>& labs,
                                 const std::vector<std::string>& columns)
    : roster_(roster) {
  const CsvRow& headings = roster.headings();
  if (is_canvas(headings)) {
    file_ = kCanvas;
    const auto section = std::find(headings.begin(), headings.end(), "Section") - headings.begin();
    for (std::size_t i = static_cast<std::size_t>(section) + 1; i < headings.size(); ++i) {
      if (!is_calculated(roster, i)) assignments_.push_back(i);
    }
  } else if (roster.column("Identifier") && roster.column(kGrade)) {
    file_ = kMoodle;
    assignments_.push_back(*roster.column(kGrade));
  } else if (!columns.empty()) {
    throw UsageError(
        "--column: expected a roster that Canvas exports as gradebook, or Moodle as grading worksheet: only into these "
        "can marks be filled in");
  }
  for (const std::string& column : columns) choose(column, labs);
}

void GradebookImport::choose(const std::string& text, const std::vector<std::string>& labs) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError(fmt::format("--column: expected LAB=COLUMN, such as 'a9=A9 Collectives (123456)', got {}",
                                 option::quoted(text)));
  const std::string& lab = labs[lab_named(text.substr(0, equals), labs)];
  const std::string heading = text.substr(equals + 1);
  std::vector<std::string> names;
  for (const std::size_t column : assignments_) names.push_back(roster_.headings()[column]);
  const auto name = std::find(names.begin(), names.end(), heading);
  if (name == names.end())
    throw UsageError(fmt::format("--column: the roster has no column {} that marks can go into; expected one of: {}{}",
                                 option::quoted(heading), fmt::join(names, ", "), did_you_mean(heading, names)));
  const std::size_t column = assignments_[static_cast<std::size_t>(name - names.begin())];
  const bool taken = std::any_of(columns_.begin(), columns_.end(),
                                 [&](const auto& one) { return one.first == lab || one.second == column; });
  if (taken)
    throw UsageError(fmt::format("--column: expected each lab and column once, got {} again", option::quoted(text)));
  columns_[lab] = column;
}

std::vector<std::string> GradebookImport::names_of(const std::vector<std::size_t>& columns) const {
  std::vector<std::string> names;
  for (const std::size_t column : columns) names.push_back(safe_text(one_line(roster_.headings()[column]), 200));
  return names;
}

std::vector<std::size_t> GradebookImport::candidates_for(const std::string& lab,
                                                         const std::vector<std::string>& graded_labs) const {
  std::vector<std::size_t> candidates;
  const std::string word = *words_in(short_name_of(lab)).rbegin();
  for (const std::size_t column : assignments_) {
    const bool taken =
        std::any_of(columns_.begin(), columns_.end(), [&](const auto& one) { return one.second == column; });
    const bool fits = file_ == kMoodle ? graded_labs.size() == 1
                                       : words_in(assignment_name(roster_.headings()[column])).count(word) != 0;
    if (fits && !taken) candidates.push_back(column);
  }
  return candidates;
}

std::map<std::string, std::size_t> GradebookImport::columns_of(const std::vector<std::string>& graded_labs,
                                                               std::vector<std::string>& notes) const {
  std::map<std::string, std::size_t> filled;
  std::map<std::size_t, int> num_labs;  // that could go into a column
  for (const std::string& lab : graded_labs) {
    if (columns_.count(lab) != 0) continue;
    for (const std::size_t column : candidates_for(lab, graded_labs)) ++num_labs[column];
  }
  for (const std::string& lab : graded_labs) {
    if (const auto named = columns_.find(lab); named != columns_.end()) {
      filled[lab] = named->second;
      continue;
    }
    const std::vector<std::size_t> candidates = candidates_for(lab, graded_labs);
    if (candidates.size() == 1 && num_labs[candidates.front()] == 1) {
      filled[lab] = candidates.front();
      continue;
    }
    if (file_ == kMoodle && !columns_.empty()) continue;  // the worksheet is that of another lab
    const std::vector<std::string> names = names_of(candidates.empty() ? assignments_ : candidates);
    if (names.empty()) continue;
    const std::string name = short_name_of(lab);
    notes.push_back(
        fmt::format("{} of {}: expected its column, such as --column '{}={}'", file_, name, name, names[0]) +
        (names.size() > 1 ? fmt::format("; there are: {}", fmt::join(names, ", ")) : ""));
  }
  return filled;
}

GradebookImport::Result GradebookImport::of(const std::vector<MarkedStudent>& students,
                                            const std::vector<std::string>& graded_labs, bool with_pending) const {
  Result result;
  if (file_.empty()) return result;
  const std::map<std::string, std::size_t> filled = columns_of(graded_labs, result.notes);
  if (filled.empty()) return result;

  std::set<std::size_t> columns;
  for (std::size_t i = 0; i < roster_.headings().size(); ++i) {
    if (file_ == kMoodle || kCanvasStudent.count(roster_.headings()[i]) != 0) columns.insert(i);
  }
  for (const auto& [lab, column] : filled) columns.insert(column);
  const auto line_of = [&](const CsvRow& row) {
    CsvRow fields;
    std::set<std::size_t> identifiers;
    for (const std::size_t column : columns) {
      if (kIdentifiers.count(roster_.headings()[column]) != 0) identifiers.insert(fields.size());
      fields.push_back(row[column]);
    }
    return csv_line(fields, identifiers);
  };

  result.csv = line_of(roster_.headings());
  if (!roster_.points_possible().empty()) result.csv += line_of(roster_.points_possible());
  std::map<std::string, std::size_t> num_open, num_twice;
  for (std::size_t i = 0; i < roster_.size(); ++i) {
    CsvRow row = roster_.row(i);
    for (const auto& [lab, column] : filled) {
      const MarksOfRow found = marks_of_row(students, i, lab);
      if (found.twice) ++num_twice[lab];
      if (found.marks == nullptr || found.twice || one_line(row[column]) == "EX") continue;
      if (!is_final(*found.marks, with_pending)) {
        ++num_open[lab];
        continue;
      }
      row[column] = mark_text(found.marks->marks);
      if (const auto feedback = roster_.column(kFeedback); file_ == kMoodle && feedback)
        row[*feedback] = feedback_of(*found.marks);
    }
    result.csv += line_of(row);
  }

  for (const auto& [lab, column] : filled) {
    const auto note = [&, of = file_ + " of " + short_name_of(lab)](const std::string& text) {
      if (!text.empty()) result.notes.push_back(of + ": " + text);
    };
    if (num_open[lab] > 0)
      note(fmt::format("{} pending or not judged, and not filled in{}",
                       counted(num_open[lab], "student's marks are", "students' marks are"),
                       with_pending ? "" : "; --with-pending takes pending marks as 0"));
    if (num_twice[lab] > 0)
      note(counted(num_twice[lab], "student is", "students are") +
           " there twice, by different names, and not filled in");
    note(
        note_of_total(total_of(students, lab), most_in(roster_, file_ == kMoodle ? roster_.column(kMaximum) : column)));
  }
  return result;
}

}  // namespace lab::grading
