#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "grading/batch/csv.h"
#include "grading/batch/download_name.h"

namespace lab::grading {

/// The students of a course: a CSV file with headings, such as a gradebook that a learning platform exports. All its
/// columns are kept, and all rows but empty ones and what Canvas has next to students: points, posting policies, the test
/// student. Who a student is comes only from columns whose headings say id, email or name.
class Roster {
 public:
  /// `id_column`: the heading of the column that students are called by; empty: the first of the usual ones that is
  /// there (SIS User ID, SIS Login ID, Student ID, SID, ID number, Username, Identifier, ID, Email address ...). A row
  /// that has nothing there is called by the next of them.
  /// Errors    UsageError: not CSV, no rows, no such column (with the nearest), two rows with one id
  Roster(const std::string& csv, const std::string& path, const std::string& id_column = "");
  /// The same, of a file in any encoding that spreadsheets save.
  /// Errors    UsageError: also if it cannot be read, or is not text
  static Roster load(const std::string& path, const std::string& id_column = "");

  std::size_t size() const { return rows_.size(); }
  const CsvRow& headings() const { return headings_; }
  const CsvRow& row(std::size_t index) const { return rows_[index]; }
  /// The column under a heading, in upper or lower case.
  std::optional<std::size_t> column(const std::string& heading) const;
  /// Canvas' row that says what each column is worth; empty: there is none.
  const CsvRow& points_possible() const { return points_possible_; }
  bool is_canvas_gradebook() const { return canvas_id_.has_value(); }
  bool is_moodle_worksheet() const { return moodle_id_.has_value(); }
  /// What the student of a row is called here; empty: see why_unidentified().
  std::string find_id(std::size_t index) const;
  /// In the columns that a platform uses for names; empty: there is none.
  std::string get_name(std::size_t index) const;
  /// "no SIS User ID, Email or name in this row"
  std::string why_unidentified() const;

  struct Found {
    std::optional<std::size_t> row;
    std::string why_not;  ///< "no student of r.csv has the ID 88"
  };
  /// The row of a student. An id of a platform's own is looked for where that platform's gradebook has it, or, in another
  /// roster, among the ids of students with that name. Any other id, and an email, is looked for in all columns of its kind.
  /// A name decides only where no id or email could be compared. Nothing: no row fits, or more than one does.
  Found find(const Student& student) const;

 private:
  std::vector<std::size_t> columns_called(const std::vector<const char*>& headings) const;
  void drop_other_rows();
  void require_one_row_each() const;
  std::optional<std::size_t> own_column(Student::IdOf kind) const;
  std::string id_cell(std::size_t row) const;
  std::vector<std::size_t> find_id_columns(std::size_t row, const Student& student) const;
  std::vector<std::size_t> rows_with_id(const Student& student) const;
  std::vector<std::size_t> rows_with_email(const std::string& email) const;
  bool is_someone_else(std::size_t row, const Student& student) const;
  std::string shown(std::size_t row) const;

  std::string path_;
  CsvRow headings_;
  std::vector<CsvRow> rows_;
  CsvRow points_possible_;
  std::optional<std::size_t> chosen_;  ///< the id column that was named
  // Columns, the preferred ones first.
  std::vector<std::size_t> ids_, emails_, names_, first_names_, last_names_;
  std::optional<std::size_t> canvas_id_, moodle_id_;  ///< of the platforms' own numbers, in a gradebook of theirs
};

}  // namespace lab::grading
