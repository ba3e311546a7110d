#include "grading/marks/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/text.h"

// For the handout's numbers, what is expected is in a9_collectives/answers/written_answers_task1.md, which a test compares
// with the running code; another test compares this file with those answers.
namespace lab::grading {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos
             ? ""
             : std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

/// "q1" for "## Q1. Broadcast"; empty for any other line.
std::string question_of(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t#*_");
  if (begin == std::string::npos || (line[begin] != 'Q' && line[begin] != 'q')) return "";
  std::size_t end = begin + 1;
  while (end < line.size() && is_digit(line[end])) ++end;
  if (end == begin + 1 || (end < line.size() && is_word(line[end]))) return "";
  return "q" + line.substr(begin + 1, end - begin - 1);
}

std::vector<std::string> cells_of(const std::string& row) {
  std::string inner = trimmed(row);
  if (!inner.empty() && inner.front() == '|') inner.erase(0, 1);
  if (!inner.empty() && inner.back() == '|') inner.pop_back();
  std::vector<std::string> cells;
  std::size_t begin = 0;
  for (std::size_t bar = inner.find('|'); bar != std::string::npos; bar = inner.find('|', begin)) {
    cells.push_back(trimmed(std::string_view(inner).substr(begin, bar - begin)));
    begin = bar + 1;
  }
  cells.push_back(trimmed(std::string_view(inner).substr(begin)));
  return cells;
}

/// A line between rows, or around the table.
bool is_rule(const std::string& row) {
  return row.find_first_not_of("|+-=: \t") == std::string::npos && row.find_first_of("-=") != std::string::npos;
}

constexpr int kNoNumber = -1;

/// The number that names a row, or kNoNumber.
int row_number_of(const std::string& cell) {
  int number = kNoNumber;
  for (std::size_t at = 0; at < cell.size(); ++at) {
    if (!is_digit(cell[at])) continue;
    if (number != kNoNumber) return kNoNumber;
    number = 0;
    for (; at < cell.size() && is_digit(cell[at]); ++at) {
      if (number > 1000) return kNoNumber;
      number = 10 * number + (cell[at] - '0');
    }
  }
  return number;
}

struct ExpectedCell {
  std::string name;
  std::size_t table = 0;  ///< in the answer to the question, from 0
  int row = 0;            ///< the number in its first cell; kNoNumber: the last row without one
  std::size_t column = 0;
  std::vector<double> numbers;
};

struct ExpectedAnswer {
  std::string question;  ///< "Q1"
  std::vector<ExpectedCell> cells;
};

ExpectedAnswer broadcast_values(int src, int factor) {
  ExpectedAnswer answer = {"Q1", {}};
  const double value = factor * (src + 1);
  for (int rank = 0; rank < 4; ++rank) {
    answer.cells.push_back({fmt::format("rank {}, printed x", rank), 0, rank, 1, {value}});
    answer.cells.push_back({fmt::format("rank {}, printed y", rank), 0, rank, 2, {value}});
  }
  return answer;
}

ExpectedAnswer sums_so_far(int first) {
  ExpectedAnswer answer = {"Q2", {}};
  double sum = first;
  for (int rank = 1; rank < 4; ++rank) {
    sum += rank + first;
    answer.cells.push_back({fmt::format("after root 0 received from rank {}", rank), 0, rank, 1, {sum}});
  }
  for (int rank = 0; rank < 4; ++rank)
    answer.cells.push_back({fmt::format("rank {}, final value", rank), 1, rank, 1, {sum}});
  return answer;
}

ExpectedAnswer gathered_layout(int offset) {
  ExpectedAnswer answer = {"Q3", {}};
  std::vector<double> content;
  for (int rank = 0; rank < 3; ++rank) {
    content.push_back(rank);
    content.push_back(rank + offset);
  }
  for (int rank = 0; rank < 3; ++rank) {
    answer.cells.push_back({fmt::format("rank {}, shape of y", rank), 0, rank, 1, {6}});
    answer.cells.push_back({fmt::format("rank {}, content of y", rank), 0, rank, 2, content});
  }
  return answer;
}

/// A5's last row, that of the defaults.
ExpectedAnswer pipeline_messages(const QuestionNumbers& numbers) {
  const double batch = numbers.at("micro_batch"), sequence = numbers.at("sequence"), hidden = numbers.at("hidden");
  const double bytes = batch * sequence * hidden * sizeof(float);
  const double num_messages = 2.0 * numbers.at("micro_batches") * (numbers.at("stages") - 1);  // there and back
  return {"Q3",
          {{"shape", 0, kNoNumber, 1, {batch, sequence, hidden}},
           {"bytes of a message", 0, kNoNumber, 3, {bytes}},
           {"messages of a batch", 0, kNoNumber, 4, {num_messages}},
           {"bytes of a batch", 0, kNoNumber, 5, {bytes * num_messages}}}};
}

/// Nothing for an item whose answer is not exact, or that has no such numbers.
std::optional<ExpectedAnswer> answer_to(const std::string& manual_id, const QuestionNumbers& numbers) {
  const auto has = [&](const char* name) { return numbers.count(name) != 0; };
  if (manual_id == "a5.written_q3" && has("micro_batch") && has("sequence") && has("hidden") && has("stages") &&
      has("micro_batches"))
    return pipeline_messages(numbers);
  if (manual_id == "a9.written_q1" && has("src") && has("factor"))
    return broadcast_values(numbers.at("src"), numbers.at("factor"));
  if (manual_id == "a9.written_q2" && has("first")) return sums_so_far(numbers.at("first"));
  if (manual_id == "a9.written_q3" && has("offset")) return gathered_layout(numbers.at("offset"));
  return std::nullopt;
}

bool are_near(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) < 1e-6)) return false;
  }
  return true;
}

/// "3", or a calculation of it: "1 + 2 = 3".
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
  if (tables.empty()) return fmt::format("no table found under {}: read it yourself", answer.question);
  std::vector<std::string> differences;
  std::size_t num_filled = 0;
  for (const ExpectedCell& expected : answer.cells) {
    const std::string found =
        expected.table < tables.size() ? cell_at(tables[expected.table], expected.row, expected.column) : "";
    if (!found.empty()) ++num_filled;
    if (!cell_holds(found, expected.numbers)) differences.push_back(difference(expected, found));
  }
  if (num_filled == 0) return fmt::format("none of the {} cells is filled in", answer.cells.size());

  std::string message =
      fmt::format("{} of {} cells are as expected", answer.cells.size() - differences.size(), answer.cells.size());
  constexpr std::size_t kMaxNamed = 3;
  for (std::size_t i = 0; i < differences.size() && i < kMaxNamed; ++i) message += "; " + differences[i];
  if (differences.size() > kMaxNamed) message += fmt::format("; and {} more", differences.size() - kMaxNamed);
  return message;
}

}  // namespace

std::string section_of(std::string_view text, std::string_view question) {
  std::string wanted(question), section;
  wanted[0] = 'q';
  bool inside = false;
  for (const std::string& line : lines_of(text)) {
    const std::string named = question_of(line);
    if (!named.empty()) inside = named == wanted;
    if (inside) section += line;
  }
  return section;
}

std::vector<WrittenTable> tables_of(std::string_view section) {
  std::vector<WrittenTable> tables;
  bool inside = false;
  for (const std::string& line : lines_of(section)) {
    const std::string row = trimmed(line);
    if (is_rule(row)) continue;
    if (row.find('|') == std::string::npos) {
      inside = false;
      continue;
    }
    if (!inside) tables.emplace_back();
    inside = true;
    tables.back().push_back(cells_of(row));
  }
  return tables;
}

std::string cell_at(const WrittenTable& table, int row, std::size_t column) {
  std::string found;
  for (const std::vector<std::string>& cells : table) {
    if (row_number_of(cells.front()) == row) found = column < cells.size() ? cells[column] : "";
  }
  return found;
}

std::vector<double> numbers_of_cell(std::string_view cell) {
  const std::string text(cell);
  std::vector<double> numbers;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isalpha(static_cast<unsigned char>(text[at])) != 0) {  // a word, with its digits
      while (at < text.size() && is_word(text[at])) ++at;
      continue;
    }
    const bool decimal_point = text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1]);
    if (!is_digit(text[at]) && !decimal_point) {
      ++at;
      continue;
    }
    const bool negative = at > 0 && text[at - 1] == '-' && (at < 2 || !is_word(text[at - 2]));
    char* end = nullptr;
    const double number = std::strtod(text.c_str() + at, &end);
    numbers.push_back(negative ? -number : number);
    at = static_cast<std::size_t>(end - text.c_str());
  }
  return numbers;
}

std::string suggestion_for(const std::string& manual_id, const QuestionNumbers& numbers, const std::string& text) {
  const auto answer = answer_to(manual_id, numbers);
  return answer ? compare(*answer, text) : "";
}

std::vector<std::string> expected_cells(const std::string& manual_id, const QuestionNumbers& numbers) {
  std::vector<std::string> lines;
  const auto answer = answer_to(manual_id, numbers);
  if (!answer) return lines;
  for (const ExpectedCell& cell : answer->cells)
    lines.push_back(fmt::format("{}: {}", cell.name, fmt::join(cell.numbers, " ")));
  return lines;
}

}  // namespace lab::grading
