#include "grading/marks/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "common/report/one_line.h"
#include "common/report/utf8.h"
#include "grading/marks/written_tables.h"

// The expected numbers are those of a9_collectives/answers/written_answers_task1.md, which a test holds against the
// running code; another test holds this file against those answers.
namespace lab::grading {
namespace {

struct ExpectedCell {
  std::string name;
  std::size_t table = 0;  ///< in the answer to the question, from 0
  int row = 0;            ///< the number in its first cell
  std::size_t column = 0;
  std::vector<double> numbers;
};

struct ExpectedAnswer {
  std::string question;  ///< "Q1"
  std::vector<ExpectedCell> cells;
};

ExpectedAnswer broadcast_values() {
  ExpectedAnswer answer = {"Q1", {}};
  for (int rank = 0; rank < 4; ++rank) {
    answer.cells.push_back({fmt::format("rank {}, printed x", rank), 0, rank, 1, {20}});
    answer.cells.push_back({fmt::format("rank {}, printed y", rank), 0, rank, 2, {20}});
  }
  return answer;
}

ExpectedAnswer sums_so_far() {
  ExpectedAnswer answer = {"Q2", {}};
  const std::vector<double> sums = {1, 3, 6, 10};
  for (int rank = 1; rank < 4; ++rank) {
    const std::string name = fmt::format("after root 0 received from rank {}", rank);
    answer.cells.push_back({name, 0, rank, 1, {sums[static_cast<std::size_t>(rank)]}});
  }
  for (int rank = 0; rank < 4; ++rank)
    answer.cells.push_back({fmt::format("rank {}, final value", rank), 1, rank, 1, {sums.back()}});
  return answer;
}

ExpectedAnswer gathered_layout() {
  ExpectedAnswer answer = {"Q3", {}};
  for (int rank = 0; rank < 3; ++rank) {
    answer.cells.push_back({fmt::format("rank {}, shape of y", rank), 0, rank, 1, {6}});
    answer.cells.push_back({fmt::format("rank {}, content of y", rank), 0, rank, 2, {0, 10, 1, 11, 2, 12}});
  }
  return answer;
}

bool are_near(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) < 1e-6)) return false;
  }
  return true;
}

/// "3", or a way to it: "1 + 2 = 3".
bool cell_holds(const std::string& cell, const std::vector<double>& numbers) {
  if (are_near(numbers_of_cell(cell), numbers)) return true;
  const std::size_t equals = cell.rfind('=');
  return equals != std::string::npos && are_near(numbers_of_cell(cell.substr(equals + 1)), numbers);
}

std::string difference(const ExpectedCell& expected, const std::string& found) {
  constexpr std::size_t kMaxBytes = 80;
  return fmt::format("{}: expected {}, found {}", expected.name, fmt::join(expected.numbers, " "),
                     found.empty() ? "nothing" : fmt::format("'{}'", safe_text(one_line(found), kMaxBytes)));
}

std::string compare(const ExpectedAnswer& answer, const std::string& text) {
  constexpr std::size_t kMaxBytes = 1U << 20;  // a table of millions of cells would take the grader's memory
  const auto tables = tables_of(section_of(std::string_view(text).substr(0, kMaxBytes), answer.question));
  if (tables.empty()) return fmt::format("no table is found under {}: read it yourself", answer.question);
  std::vector<std::string> differences;
  std::size_t num_filled = 0;
  for (const ExpectedCell& expected : answer.cells) {
    const std::string found =
        expected.table < tables.size() ? cell_at(tables[expected.table], expected.row, expected.column) : "";
    if (!found.empty()) ++num_filled;
    if (!cell_holds(found, expected.numbers)) differences.push_back(difference(expected, found));
  }
  if (num_filled == 0) return fmt::format("none of the {} cells is filled in", answer.cells.size());

  std::string words =
      fmt::format("{} of {} cells are as expected", answer.cells.size() - differences.size(), answer.cells.size());
  constexpr std::size_t kMaxNamed = 3;
  for (std::size_t i = 0; i < differences.size() && i < kMaxNamed; ++i) words += "; " + differences[i];
  if (differences.size() > kMaxNamed) words += fmt::format("; and {} more", differences.size() - kMaxNamed);
  return words;
}

}  // namespace

std::string suggestion_for(const std::string& manual_id, const std::string& text) {
  if (manual_id == "a9.written_q1") return compare(broadcast_values(), text);
  if (manual_id == "a9.written_q2") return compare(sums_so_far(), text);
  if (manual_id == "a9.written_q3") return compare(gathered_layout(), text);
  return "";
}

}  // namespace lab::grading
