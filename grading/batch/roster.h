#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "grading/batch/csv.h"
#include "grading/batch/download_name.h"

namespace lab::grading {

/// The students of a course: a CSV file with headings, such as a gradebook that a learning platform exports. All its
/// columns are kept, and all rows of students: not what Canvas has beside them, points, posting policies and the test
/// student.
class Roster {
 public:
  /// `id_column`: the heading of the column that students are called by; empty: the first of the usual ones that is
  /// there (SIS User ID, SIS Login ID, Student ID, SID, ID number, Username, Identifier, ID, Email address, Email).
  /// Errors    UsageError: not CSV, no rows, no such column (with the nearest), an id twice or missing
  Roster(const std::string& csv, const std::string& path, const std::string& id_column = "");
  /// The same, of a file in any encoding that spreadsheets save.
  /// Errors    UsageError: also if it cannot be read, or is no text
  static Roster load(const std::string& path, const std::string& id_column = "");

  std::size_t size() const { return rows_.size(); }
  const CsvRow& headings() const { return headings_; }
  const CsvRow& row(std::size_t index) const { return rows_[index]; }
  /// The column under a heading, in upper or lower case.
  std::optional<std::size_t> column(const std::string& heading) const;
  /// Canvas' row that says what each column is worth; empty: there is none.
  const CsvRow& points_possible() const { return points_possible_; }
  /// What the student of a row is called here.
  std::string id_of(std::size_t index) const { return rows_[index][id_column_]; }
  /// The row's cell under a heading that a platform uses for names; empty: there is none.
  std::string name_of(std::size_t index) const;

  /// The row of a student: the only one with a cell that is the id ("4711", or Moodle's "Participant 4711"), or else the
  /// email, or else the name ("Ada Lovelace", "Lovelace, Ada", Canvas' "lovelaceada"). Nothing: there is none, or more
  /// than one.
  std::optional<std::size_t> find(const Student& student) const;

 private:
  CsvRow headings_;
  std::vector<CsvRow> rows_;
  CsvRow points_possible_;
  std::size_t id_column_ = 0;
};

}  // namespace lab::grading
