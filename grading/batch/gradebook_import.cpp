#include "grading/batch/gradebook_import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <utility>

#include "common/api/errors.h"
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
std::string write_feedback(const LabMarks& marks) {
  const ShownToStudent shown(marks, {});
  std::string text = html(headline(shown.marks()));
  if (shown.num_hidden() > 0) text += "<br>" + html(kNotShownNote);
  for (const MarkedItem& item : shown.marks().items) {
    if (item.out_of > 0)
      text += "<br>" + html(fmt::format("{}: {} of {}", item.title, shown_marks(item.marks), shown_marks(item.out_of)));
  }
  return text;
}

/// Two hand-ins of one student, by different names, are none.
bool is_twice(const std::vector<MarkedStudent>& students, const MarkedStudent& one, const std::string& lab) {
  return std::count_if(students.begin(), students.end(), [&](const MarkedStudent& other) {
           return other.roster_row == one.roster_row && other.handed_in.count(lab) != 0;
         }) > 1;
}

std::optional<double> compute_total(const std::vector<MarkedStudent>& students, const std::string& lab) {
  for (const MarkedStudent& student : students) {
    if (const auto marks = student.labs.find(lab); marks != student.labs.end()) return marks->second.total;
  }
  return std::nullopt;
}

/// "100.00", or "100,00" as other countries write it.
std::optional<double> decimal_in(const std::string& text) {
  const std::size_t point = text.find_last_of(".,");
  std::string number;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_separator = text[i] == '.' || text[i] == ',';
    if (i == point) number += '.';
    if (!is_separator) number += text[i];
  }
  return option::integer<double>(number);
}

/// What the platform says is the most for a column: Canvas above the students, Moodle in each row.
std::optional<double> most_in(const Roster& roster, std::optional<std::size_t> column) {
  const bool is_above = roster.is_canvas_gradebook();
  if (!column || (is_above ? roster.points_possible().empty() : roster.size() == 0)) return std::nullopt;
  const CsvRow& row = is_above ? roster.points_possible() : roster.row(0);
  return decimal_in(one_line(row[*column]));
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
  if (roster.is_canvas_gradebook()) {
    file_ = kCanvas;
    const auto section = std::find(headings.begin(), headings.end(), "Section") - headings.begin();
    for (std::size_t i = static_cast<std::size_t>(section) + 1; i < headings.size(); ++i) {
      if (!is_calculated(roster, i)) assignments_.push_back(i);
    }
  } else if (roster.is_moodle_worksheet()) {
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

std::vector<std::string> GradebookImport::list_names(const std::vector<std::size_t>& columns) const {
  std::vector<std::string> names;
  for (const std::size_t column : columns) names.push_back(safe_text(one_line(roster_.headings()[column]), 200));
  return names;
}

std::vector<std::size_t> GradebookImport::candidates_for(const std::string& lab) const {
  std::vector<std::size_t> candidates;
  const std::string word = *words_in(shorten_name(lab)).rbegin();
  for (const std::size_t column : assignments_) {
    if (file_ == kMoodle || words_in(assignment_name(roster_.headings()[column])).count(word) != 0)
      candidates.push_back(column);
  }
  return candidates;
}

std::map<std::string, std::size_t> GradebookImport::take_columns(const std::vector<std::string>& labs,
                                                                 Result& result) const {
  std::map<std::string, std::size_t> filled;
  for (const std::string& lab : labs) {
    if (const auto named = columns_.find(lab); named != columns_.end()) {
      filled[lab] = named->second;
      continue;
    }
    const std::vector<std::size_t> candidates = candidates_for(lab);
    if (columns_.empty() && labs.size() == 1 && candidates.size() == 1) {
      filled[lab] = candidates.front();
      continue;
    }
    if (assignments_.empty() || !columns_.empty()) continue;  // of other labs, somebody has said it
    result.is_unclear = result.is_unclear || labs.size() > 1;
    const std::vector<std::string> names = list_names(candidates.empty() ? assignments_ : candidates);
    const std::string name = shorten_name(lab);
    result.notes.push_back(
        fmt::format("{} of {}: expected its column, such as --column '{}={}'", file_, name, name, names[0]) +
        (names.size() > 1 ? fmt::format("; there are: {}", fmt::join(names, ", ")) : "") +
        (labs.size() > 1 ? fmt::format("; or one lab with --lab: {} are handed in", fmt::join(labs, ", ")) : ""));
  }
  return filled;
}

GradebookImport::Result GradebookImport::of(const std::vector<MarkedStudent>& students,
                                            const std::vector<std::string>& labs, bool with_pending) const {
  Result result;
  if (file_.empty()) return result;
  const std::map<std::string, std::size_t> filled = take_columns(labs, result);
  if (filled.empty()) return result;

  std::vector<CsvRow> rows;
  for (std::size_t i = 0; i < roster_.size(); ++i) rows.push_back(roster_.row(i));
  for (const auto& [lab, column] : filled) {
    const std::string of = file_ + " of " + shorten_name(lab);
    std::vector<std::string> open;
    for (std::size_t i = 0; i < students.size(); ++i) {
      const MarkedStudent& student = students[i];
      if (!student.roster_row || student.handed_in.count(lab) == 0) continue;
      CsvRow& row = rows[*student.roster_row];
      if (one_line(row[column]) == "EX") continue;
      const std::string why = is_twice(students, student, lab) ? "handed in twice, under different names"
                                                               : why_not_final(student, lab, with_pending);
      if (why.empty()) {
        row[column] = mark_text(student.labs.at(lab).marks);
        if (const auto feedback = roster_.column(kFeedback); file_ == kMoodle && feedback)
          row[*feedback] = write_feedback(student.labs.at(lab));
        continue;
      }
      std::string& reason = result.not_filled_in[i];
      reason += fmt::format("{}not in {}: {}", reason.empty() ? "" : "; ", of, why);
      open.push_back(fmt::format("{}: {}", roster_.find_id(*student.roster_row), why));
    }
    constexpr std::size_t kMostNamed = 10;
    if (!open.empty()) {
      const std::string more = open.size() > kMostNamed ? fmt::format("; and {} more", open.size() - kMostNamed) : "";
      const std::string hint = with_pending ? "" : "; --with-pending takes pending marks as 0";
      open.resize(std::min(open.size(), kMostNamed));
      result.notes.push_back(fmt::format("{}: not filled in: {}{}{}", of, fmt::join(open, "; "), more, hint));
    }
    const std::string note = note_of_total(compute_total(students, lab),
                                           most_in(roster_, file_ == kMoodle ? roster_.column(kMaximum) : column));
    if (!note.empty()) result.notes.push_back(of + ": " + note);
  }

  std::set<std::size_t> columns;
  for (std::size_t i = 0; i < roster_.headings().size(); ++i) {
    if (file_ == kMoodle || kCanvasStudent.count(roster_.headings()[i]) != 0) columns.insert(i);
  }
  for (const auto& [lab, column] : filled) columns.insert(column);
  const auto add_line = [&](const CsvRow& row) {
    CsvRow fields;
    std::set<std::size_t> identifiers;
    for (const std::size_t column : columns) {
      if (kIdentifiers.count(roster_.headings()[column]) != 0) identifiers.insert(fields.size());
      fields.push_back(row[column]);
    }
    result.csv += csv_line(fields, identifiers);
  };
  add_line(roster_.headings());
  if (!roster_.points_possible().empty()) add_line(roster_.points_possible());
  for (const CsvRow& row : rows) add_line(row);
  return result;
}

}  // namespace lab::grading
