#include "grading/batch/roster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/base/utf8_text.h"
#include "grading/batch/download_name.h"

namespace lab::grading {
namespace {

// Headings by their letters, the preferred ones first: Canvas, Gradescope, Moodle, Brightspace, Blackboard, ILIAS.
const std::vector<const char*> kIdHeadings = {"sisuserid",
                                              "sisloginid",
                                              "studentid",
                                              "studentnumber",
                                              "matriculationnumber",
                                              "matrikelnummer",
                                              "sid",
                                              "orgdefinedid",
                                              "idnumber",
                                              "username",
                                              "loginid",
                                              "login",
                                              "anmeldename",
                                              "userid",
                                              "canvasuserid",
                                              "integrationid",
                                              "idnummer",
                                              "identifier",
                                              "id"};
const std::vector<const char*> kEmailHeadings = {"emailaddress", "email", "emailadresse", "mail"};
const std::vector<const char*> kNameHeadings = {"student", "fullname", "name", "studentname", "displayname"};
const std::vector<const char*> kFirstNameHeadings = {"firstname", "givenname", "forename", "vorname"};
const std::vector<const char*> kLastNameHeadings = {"lastname", "surname", "familyname", "nachname"};

bool is_blank(const std::string& cell) {
  return folded(cell).empty();
}

/// An id as it is compared: Brightspace writes "#4711", and programs that take it for a number "4711.0".
std::string id_text(const std::string& cell) {
  std::string text = folded(cell);
  if (text.size() > 1 && text.front() == '#') text.erase(0, 1);
  const std::size_t point = text.find_first_not_of("0123456789");
  if (point != 0 && point != std::string::npos && text.compare(point, std::string::npos, ".0") == 0) text.resize(point);
  return text;
}

/// "4711" of Moodle's "Participant 4711", whatever the word is in the platform's language.
std::string number_at_end(const std::string& cell) {
  const std::string text = folded(cell);
  return text.substr(text.find_last_not_of("0123456789") + 1);  // npos + 1 is 0
}

/// The first that is not blank.
std::string first_cell(const CsvRow& row, const std::vector<std::size_t>& columns) {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](std::size_t column) { return !is_blank(row[column]); });
  return found == columns.end() ? "" : row[*found];
}

bool is_points_row(const CsvRow& row) {
  return one_line(row.front()) == "Points Possible";
}

/// "Manual Posting" and "Muted" below assignments whose marks are not shown yet; or nothing at all.
bool is_policy_or_empty(const CsvRow& row) {
  return std::all_of(row.begin(), row.end(), [](const std::string& cell) {
    const std::string text = one_line(cell);
    return is_blank(text) || text == "Muted" || text.rfind("Manual Posting", 0) == 0;
  });
}

}  // namespace

Roster::Roster(const std::string& csv, const std::string& path, const std::string& wanted) : path_(path) {
  std::vector<CsvRow> rows = parse_csv(csv, path);
  if (rows.size() < 2) throw UsageError(path + ": expected headings and a row for each student, got fewer rows");
  headings_ = std::move(rows.front());
  rows_.assign(std::make_move_iterator(rows.begin() + 1), std::make_move_iterator(rows.end()));
  for (CsvRow& row : rows_) row.resize(std::max(row.size(), headings_.size()));
  if (!wanted.empty()) {
    chosen_ = column(wanted);
    if (!chosen_) throw UsageError(fmt::format("{}: no column '{}'{}", path, wanted, did_you_mean(wanted, headings_)));
    ids_ = {*chosen_};
  }
  for (const std::size_t column : columns_called(kIdHeadings)) {
    if (column != chosen_) ids_.push_back(column);
  }
  emails_ = columns_called(kEmailHeadings);
  names_ = columns_called(kNameHeadings);
  first_names_ = columns_called(kFirstNameHeadings);
  last_names_ = columns_called(kLastNameHeadings);
  const bool begins_with_name = headings_.front() == "Student" || headings_.front() == "LastName";
  if (begins_with_name && column("Section")) canvas_id_ = column("ID");
  if (column("Grade")) moodle_id_ = column("Identifier");
  if (ids_.empty() && emails_.empty())
    throw UsageError(
        fmt::format("{}: which column says who a student is? Expected a heading such as SIS User ID, ID number, "
                    "Username or Email, got {}; hint: --roster-id COLUMN",
                    path, fmt::join(headings_, ", ")));
  drop_other_rows();
  require_one_row_each();
}

Roster Roster::load(const std::string& path, const std::string& id_column) {
  const std::optional<Utf8Text> text = utf8_text(read_file(path));
  if (!text) throw UsageError(path + ": expected comma-separated values, got something that is not text");
  return {text->text, path, id_column};
}

std::optional<std::size_t> Roster::column(const std::string& heading) const {
  for (std::size_t i = 0; i < headings_.size(); ++i) {
    if (folded(headings_[i]) == folded(heading)) return i;
  }
  return std::nullopt;
}

std::vector<std::size_t> Roster::columns_called(const std::vector<const char*>& headings) const {
  std::vector<std::size_t> columns;
  for (const char* heading : headings) {
    for (std::size_t i = 0; i < headings_.size(); ++i) {
      if (keep_letters(headings_[i]) == heading) columns.push_back(i);
    }
  }
  return columns;
}

void Roster::drop_other_rows() {
  const auto points = std::find_if(rows_.begin(), rows_.end(), is_points_row);
  if (points != rows_.end()) points_possible_ = *points;
  const std::optional<std::size_t> sis_id = column("SIS User ID");
  const auto is_test_student = [&](const CsvRow& row) {
    const bool is_called_test =
        row[0] == "Student, Test" || (row[0] == "Student" && row.size() > 1 && row[1] == "Test");
    return is_canvas_gradebook() && is_called_test && (!sis_id || is_blank(row[*sis_id]));
  };
  rows_.erase(std::remove_if(rows_.begin(), rows_.end(),
                             [&](const CsvRow& row) {
                               return is_points_row(row) || is_policy_or_empty(row) || is_test_student(row);
                             }),
              rows_.end());
}

/// Two rows with one id would share marks: those that students are called by, and those that a platform finds them by.
void Roster::require_one_row_each() const {
  const auto require_once = [&](const std::string& what, const auto& id_of_row) {
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::string id = id_text(id_of_row(i));
      if (id.empty()) continue;
      const auto [first, is_new] = seen.emplace(id, i);
      if (!is_new)
        throw UsageError(
            fmt::format("{}: two rows have the {} '{}': {} and {}; expected one row for each student; hint: "
                        "delete one of them, or name another column with --roster-id",
                        path_, what, id_of_row(i), shown(first->second), shown(i)));
    }
  };
  require_once(ids_.empty() ? headings_[emails_[0]] : headings_[ids_[0]], [&](std::size_t i) { return id_cell(i); });
  for (const Student::IdOf kind : {Student::IdOf::kCanvas, Student::IdOf::kMoodle}) {
    if (const auto own = own_column(kind)) require_once(headings_[*own], [&](std::size_t i) { return rows_[i][*own]; });
  }
}

std::string Roster::find_id(std::size_t index) const {
  const std::string id = id_cell(index);
  return id.empty() ? get_name(index) : id;
}

std::string Roster::id_cell(std::size_t row) const {
  const std::string id = first_cell(rows_[row], ids_);
  return id.empty() ? first_cell(rows_[row], emails_) : id;
}

std::string Roster::get_name(std::size_t index) const {
  const CsvRow& row = rows_[index];
  const std::string name = first_cell(row, names_);
  return name.empty() ? one_line(first_cell(row, first_names_) + " " + first_cell(row, last_names_)) : name;
}

std::string Roster::shown(std::size_t row) const {
  const std::string name = get_name(row);
  return safe_text(one_line(name.empty() ? fmt::format("{}", fmt::join(rows_[row], ",")) : name), 200);
}

std::string Roster::why_unidentified() const {
  std::vector<std::string> columns;
  for (const std::vector<std::size_t>* of_kind : {&ids_, &emails_}) {
    for (const std::size_t column : *of_kind) columns.push_back(headings_[column]);
  }
  return fmt::format("no {} or name in this row", fmt::join(columns, ", "));
}

/// Where the platform that gave the id has it in its own gradebook, if this is one.
std::optional<std::size_t> Roster::own_column(Student::IdOf kind) const {
  if (kind == Student::IdOf::kCanvas) return canvas_id_;
  if (kind == Student::IdOf::kMoodle) return moodle_id_;
  return std::nullopt;
}

/// The columns of a row that an id may be in. A university's id is never a platform's own number, nor does another column
/// than the one that was named count, unless it is empty in this row.
std::vector<std::size_t> Roster::find_id_columns(std::size_t row, const Student& student) const {
  std::vector<std::size_t> columns;
  for (const std::size_t column : ids_) {
    if (is_blank(rows_[row][column])) continue;
    const bool is_platforms = column == canvas_id_ || column == moodle_id_;
    if (is_platforms && column != chosen_ && student.find_id == Student::IdOf::kUniversity) continue;
    columns.push_back(column);
    if (chosen_) break;
  }
  return columns;
}

std::vector<std::size_t> Roster::rows_with_id(const Student& student) const {
  const std::string id = id_text(student.id);
  const std::optional<std::size_t> own = own_column(student.find_id);
  const bool is_platforms = student.find_id == Student::IdOf::kCanvas || student.find_id == Student::IdOf::kMoodle;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::vector<std::size_t> columns = own ? std::vector<std::size_t>{*own} : find_id_columns(i, student);
    const bool has_id = std::any_of(columns.begin(), columns.end(), [&](std::size_t column) {
      const bool is_participant = column == moodle_id_;
      return id_text(rows_[i][column]) == id || (is_participant && number_at_end(rows_[i][column]) == id);
    });
    // Another platform's number may be anybody's here.
    if (has_id && (own || !is_platforms || get_name(i).empty() || is_same_name(get_name(i), student.name)))
      rows.push_back(i);
  }
  return rows;
}

std::vector<std::size_t> Roster::rows_with_email(const std::string& email) const {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (std::any_of(emails_.begin(), emails_.end(),
                    [&](std::size_t column) { return folded(rows_[i][column]) == folded(email); }))
      rows.push_back(i);
  }
  return rows;
}

/// Whether the row has an id or email that could be the student's, and is not.
bool Roster::is_someone_else(std::size_t row, const Student& student) const {
  const bool is_platforms = student.find_id == Student::IdOf::kCanvas || student.find_id == Student::IdOf::kMoodle;
  const bool has_id = is_platforms ? own_column(student.find_id).has_value() : !find_id_columns(row, student).empty();
  const bool has_email =
      std::any_of(emails_.begin(), emails_.end(), [&](std::size_t column) { return !is_blank(rows_[row][column]); });
  return (!student.id.empty() && has_id) || (!student.email.empty() && has_email);
}

Roster::Found Roster::find(const Student& student) const {
  std::vector<std::size_t> rows;
  const auto is_found = [&](std::vector<std::size_t> found) {
    if (!found.empty()) rows = std::move(found);
    return rows.size() == 1;
  };
  if (!student.id.empty() && is_found(rows_with_id(student))) return {rows.front(), ""};
  const bool is_email = student.email.empty() && student.id.find('@') != std::string::npos;
  const std::string& email = is_email ? student.id : student.email;
  if (rows.empty() && !email.empty() && is_found(rows_with_email(email))) return {rows.front(), ""};

  std::vector<std::size_t> named;
  std::string why_not;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!is_same_name(get_name(i), student.name)) continue;
    if (!rows.empty() && std::find(rows.begin(), rows.end(), i) == rows.end()) continue;  // one of those with the id
    if (rows.empty() && is_someone_else(i, student)) {
      why_not = fmt::format("; the name {} there has another id or email", shown(i));
    } else {
      named.push_back(i);
    }
  }
  if (named.size() == 1) return {named.front(), ""};
  if (!named.empty()) rows = named;
  if (!rows.empty()) {
    std::vector<std::string> names;
    for (const std::size_t row : rows) names.push_back(shown(row));
    return {{}, fmt::format("several students of {} may be meant: {}", path_, fmt::join(names, "; "))};
  }
  const std::string& who = !student.id.empty() ? student.id : !student.email.empty() ? student.email : student.name;
  const auto own = own_column(student.find_id);
  const std::string what = student.id.empty() ? (student.email.empty() ? "name" : "email")
                           : own              ? headings_[*own]
                                              : "id";
  return {{}, fmt::format("no student of {} has the {} {}{}", path_, what, safe_text(one_line(who), 100), why_not)};
}

}  // namespace lab::grading
