#include "grading/marks/written_tables.h"

#include <cctype>
#include <cstdlib>

#include "common/course/lines.h"

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

/// "q1" for "## Q1. Broadcast"; empty for a line that is no heading of a question.
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

/// The number that names a row, or -1.
int row_number_of(const std::string& cell) {
  int number = -1;
  for (std::size_t at = 0; at < cell.size(); ++at) {
    if (!is_digit(cell[at])) continue;
    if (number != -1) return -1;
    number = 0;
    for (; at < cell.size() && is_digit(cell[at]); ++at) {
      if (number > 1000) return -1;
      number = 10 * number + (cell[at] - '0');
    }
  }
  return number;
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

}  // namespace lab::grading
