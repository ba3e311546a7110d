#include "grading/batch/roster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/utf8_text.h"

namespace lab::grading {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::optional<std::size_t> column_of(const CsvRow& headings, const std::string& wanted) {
  for (std::size_t i = 0; i < headings.size(); ++i) {
    if (lower(headings[i]) == lower(wanted)) return i;
  }
  return std::nullopt;
}

/// The letters and digits of a name, in lower case, as Canvas joins them. Bytes of other alphabets are kept.
std::string joined(const std::string& name) {
  std::string letters;
  for (const char c : lower(name)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte) != 0) letters += c;
  }
  return letters;
}

/// The same, whatever the order of the names: "Lovelace, Ada", "Ada Lovelace".
std::multiset<std::string> words_of(const std::string& name) {
  std::multiset<std::string> words;
  std::string spaced = lower(name);
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  for (const std::string_view word : split(spaced, ' ')) {
    if (!word.empty()) words.emplace(word);
  }
  return words;
}

/// "4711" of "Participant 4711", whatever the word is in the platform's language.
std::string without_word(const std::string& cell) {
  const std::size_t space = cell.rfind(' ');
  return space == std::string::npos ? cell : cell.substr(space + 1);
}

bool is_called(const std::string& cell, const std::string& name) {
  if (words_of(cell) == words_of(name)) return true;
  // Canvas: last name first, "Lovelace, Ada" in the gradebook.
  return joined(cell) == joined(name) && cell.find(',') != std::string::npos;
}

bool is_points_row(const CsvRow& row) {
  return one_line(row.front()) == "Points Possible";
}

/// "Manual Posting" and "Muted" below assignments whose marks are not shown yet.
bool is_policy_row(const CsvRow& row) {
  bool any = false;
  for (const std::string& cell : row) {
    const std::string text = one_line(cell);
    const bool is_policy = text == "Muted" || text.rfind("Manual Posting", 0) == 0;
    if (!text.empty() && !is_policy) return false;
    any = any || is_policy;
  }
  return any;
}

constexpr const char* kIdHeadings[] = {"SIS User ID", "SIS Login ID", "Student ID", "SID",           "ID number",
                                       "Username",    "Identifier",   "ID",         "Email address", "Email"};

std::size_t id_column(const CsvRow& headings, const std::string& wanted, const std::string& path) {
  if (!wanted.empty()) {
    if (const auto column = column_of(headings, wanted)) return *column;
    throw UsageError(fmt::format("{}: no column '{}'{}", path, wanted, did_you_mean(wanted, headings)));
  }
  for (const char* heading : kIdHeadings) {
    if (const auto column = column_of(headings, heading)) return *column;
  }
  throw UsageError(
      fmt::format("{}: which column says who a student is? Expected a heading such as {}, got {}; hint: "
                  "--roster-id COLUMN",
                  path, kIdHeadings[0], fmt::join(headings, ", ")));
}

}  // namespace

Roster::Roster(const std::string& csv, const std::string& path, const std::string& wanted) {
  std::vector<CsvRow> rows = parse_csv(csv, path);
  if (rows.size() < 2) throw UsageError(path + ": expected headings and a row for each student, got fewer rows");
  headings_ = std::move(rows.front());
  rows_.assign(std::make_move_iterator(rows.begin() + 1), std::make_move_iterator(rows.end()));
  id_column_ = id_column(headings_, wanted, path);
  for (CsvRow& row : rows_) row.resize(std::max(row.size(), headings_.size()));
  const auto points = std::find_if(rows_.begin(), rows_.end(), is_points_row);
  if (points != rows_.end()) points_possible_ = *points;
  rows_.erase(std::remove_if(rows_.begin(), rows_.end(),
                             [&](const CsvRow& row) {
                               const bool is_test = row[id_column_].empty() && row.front() == "Student, Test";
                               return is_points_row(row) || is_policy_row(row) || is_test;
                             }),
              rows_.end());
  std::set<std::string> seen;
  for (const CsvRow& row : rows_) {
    if (row[id_column_].empty())
      throw UsageError(fmt::format("{}: a row has no '{}': {}", path, headings_[id_column_], fmt::join(row, ", ")));
    if (!seen.insert(lower(row[id_column_])).second)
      throw UsageError(
          fmt::format("{}: expected each '{}' once, got '{}' twice", path, headings_[id_column_], row[id_column_]));
  }
}

Roster Roster::load(const std::string& path, const std::string& id_column) {
  const std::optional<Utf8Text> text = utf8_text(read_file(path));
  if (!text) throw UsageError(path + ": expected comma-separated values, got something that is no text");
  return {text->text, path, id_column};
}

std::optional<std::size_t> Roster::column(const std::string& heading) const {
  return column_of(headings_, heading);
}

std::string Roster::name_of(std::size_t index) const {
  for (const char* heading : {"Student", "Full name", "Name", "Student name"}) {
    if (const auto column = column_of(headings_, heading)) return rows_[index][*column];
  }
  std::string name;
  for (const char* heading : {"First name", "Last name", "Surname"}) {
    if (const auto column = column_of(headings_, heading)) name += (name.empty() ? "" : " ") + rows_[index][*column];
  }
  return name;
}

std::optional<std::size_t> Roster::find(const Student& student) const {
  using Matches = std::function<bool(const std::string& cell)>;
  const auto only = [&](const Matches& matches) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (std::any_of(rows_[i].begin(), rows_[i].end(), matches) || matches(name_of(i))) found.push_back(i);
    }
    return found;
  };
  std::vector<Matches> ways;
  if (!student.id.empty()) {
    // The column of ids first: in any other, the same text may mean something else.
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (lower(id_of(i)) == lower(student.id)) return i;
    }
    ways.emplace_back([&](const std::string& cell) {
      return lower(cell) == lower(student.id) || lower(without_word(cell)) == lower(student.id);
    });
  }
  if (!student.email.empty())
    ways.emplace_back([&](const std::string& cell) { return lower(cell) == lower(student.email); });
  if (!student.name.empty())
    ways.emplace_back([&](const std::string& cell) { return !cell.empty() && is_called(cell, student.name); });
  for (const Matches& way : ways) {
    if (const std::vector<std::size_t> found = only(way); found.size() == 1) return found.front();
  }
  return std::nullopt;
}

}  // namespace lab::grading
