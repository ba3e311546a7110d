#include "grading/regenerate/plan_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/lab_names.h"
#include "common/base/text.h"
#include "common/course/starter/markers.h"

namespace lab::grading {
namespace {

namespace fs = std::filesystem;

using Cells = std::vector<std::string>;

std::string_view stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

/// "| a | b |" is {"a", "b"}; a line that is not of a table has none.
Cells split_cells(std::string_view line) {
  Cells cells;
  if (line.empty() || line[0] != '|') return cells;
  for (std::size_t begin = 1; begin < line.size();) {
    const std::size_t end = std::min(line.find('|', begin), line.size());
    cells.emplace_back(stripped(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return cells;
}

std::string make_row(const Cells& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += (cell.empty() ? "" : " " + cell) + " |";
  return row;
}

/// Calls `change` with the cells of each row of the table whose first heading is this, and writes them back.
std::string change_table(const std::string& text, const std::string& heading,
                         const std::function<void(Cells&)>& change) {
  std::vector<std::string> lines = list_lines(text);
  bool inside = false;
  for (std::string& line : lines) {
    Cells cells = split_cells(without_line_break(line));
    if (cells.empty()) {
      inside = false;
    } else if (cells[0] == heading) {
      inside = true;
    } else if (inside && cells[0].rfind("---", 0) != 0) {
      change(cells);
      line = make_row(cells) + "\n";
    }
  }
  return fmt::format("{}", fmt::join(lines, ""));
}

/// Tasks that full marks need: all but bonus tasks; of a lab with ladders, those below the highest rungs.
std::set<std::string> required_tasks(const Rubric& rubric) {
  std::set<std::string> required;
  const std::function<void(const std::string&)> add = [&](const std::string& id) {
    const RubricTask* task = rubric.find_task(id);
    if (task == nullptr || !required.insert(id).second) return;
    for (const std::string& need : task->needs) add(need);
  };
  for (const RubricLadder& ladder : rubric.ladders) {
    for (const std::string& need : ladder.rungs.back().needs) add(need);
  }
  for (const RubricTask& task : rubric.tasks) {
    if (rubric.ladders.empty() && !task.bonus) required.insert(task.id);
  }
  return required;
}

/// Marks that no check alone decides about.
double marks_by_hand(const Rubric& rubric) {
  double marks = 0;
  for (const RubricManual& manual : rubric.manuals) marks += manual.bonus ? 0 : manual.marks;
  const auto is_manual = [&](const std::string& need) {
    return std::any_of(rubric.manuals.begin(), rubric.manuals.end(),
                       [&](const RubricManual& manual) { return manual.id == need; });
  };
  for (const RubricLadder& ladder : rubric.ladders) {
    double by_machine = 0;
    for (const RubricRung& rung : ladder.rungs) {
      if (std::none_of(rung.needs.begin(), rung.needs.end(), is_manual)) by_machine = rung.marks;
    }
    marks += ladder.total - by_machine;
  }
  return marks;
}

int words_in(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  int num_words = 0;
  while (words >> word) ++num_words;
  return num_words;
}

/// Lines of code between the markers of each task, without the rows of tables, which a program has written.
std::map<std::string, int> reference_lines(const std::string& folder) {
  std::map<std::string, int> lines;
  for (const auto& entry : fs::recursive_directory_iterator(folder + "/student")) {
    if (entry.path().extension() != ".cpp") continue;
    for (const SourcePart& part : parse_solution_markers(read_file(entry.path().string()))) {
      for (const std::string& line : part.lines) {
        const std::string_view code = stripped(line);
        lines[part.task] += !code.empty() && code.substr(0, 2) != "//" && code[0] != '{';
      }
    }
  }
  lines.erase("");
  return lines;
}

std::string compute_sum(int required, int bonus) {
  return bonus == 0 ? fmt::format("{}", required) : fmt::format("{} + {}", required, bonus);
}

/// What is written, if it is a number that is near enough.
std::string hours_cell(const std::string& written, double hours) {
  char* end = nullptr;
  const double before = std::strtod(written.c_str(), &end);
  return end != written.c_str() && std::abs(before - hours) < 0.75 ? written : fmt::format("{:.0f}", hours);
}

}  // namespace

LabNumbers read_numbers(const Rubric& rubric, const std::string& folder) {
  constexpr double kPerTask = 0.5, kPerLine = 3.0 / 60, kPerWord = 1.0 / 100 / 60;
  const std::set<std::string> required = required_tasks(rubric);
  LabNumbers numbers;
  numbers.required_tasks = static_cast<int>(required.size());
  numbers.bonus_tasks = static_cast<int>(rubric.tasks.size() - required.size());
  numbers.marks_by_hand = marks_by_hand(rubric);
  numbers.marks = rubric.total - numbers.marks_by_hand;
  numbers.bonus_marks = rubric.bonus_total;
  const auto hours_for = [&](bool needed) -> double& { return needed ? numbers.hours : numbers.bonus_hours; };
  for (const RubricTask& task : rubric.tasks) hours_for(required.count(task.id) > 0) += kPerTask;
  for (const RubricManual& manual : rubric.manuals) hours_for(!manual.bonus) += kPerTask;
  for (const auto& [task, lines] : reference_lines(folder)) hours_for(required.count(task) > 0) += kPerLine * lines;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".h" || entry.path().filename() == "README.md")
      numbers.hours += kPerWord * words_in(read_file(entry.path().string()));
  }
  return numbers;
}

std::string with_plan(const std::string& syllabus, const PlanNumbers& labs) {
  PlanNumbers missing = labs;
  const std::string changed = change_table(syllabus, "lab", [&](Cells& cells) {
    const auto lab = std::find_if(missing.begin(), missing.end(),
                                  [&](const auto& other) { return cells[0] == "`" + other.first + "`"; });
    if (lab == missing.end()) return;
    const LabNumbers numbers = lab->second;
    missing.erase(lab);
    cells.resize(7);
    cells = {cells[0],
             compute_sum(numbers.required_tasks, numbers.bonus_tasks),
             fmt::format("{:g}", numbers.marks),
             fmt::format("{:g}", numbers.marks_by_hand),
             fmt::format("{:g}", numbers.bonus_marks),
             hours_cell(cells[5], numbers.hours),
             hours_cell(cells[6], numbers.bonus_hours)};
  });
  if (!missing.empty()) {
    throw UsageError(fmt::format("SYLLABUS.md: expected a row that begins '| `{}` |' in the table 'lab', got none",
                                 missing[0].first));
  }
  return changed;
}

std::string with_lessons(const std::string& syllabus, const Rubric& rubric) {
  std::vector<std::pair<std::string, std::vector<std::string>>> lessons;  // what is taught, and by which items
  std::size_t current = 0;
  const auto add = [&](const std::string& id, const std::string& teaches) {
    const auto same =
        std::find_if(lessons.begin(), lessons.end(), [&](const auto& one) { return one.first == teaches; });
    if (!teaches.empty()) current = static_cast<std::size_t>(same - lessons.begin());
    if (current == lessons.size()) lessons.push_back({teaches, {}});
    lessons[current].second.push_back("`" + id + "`");
  };
  for (const RubricTask& task : rubric.tasks) add(task.id, task.teaches);
  for (const RubricManual& manual : rubric.manuals) add(manual.id, manual.teaches);
  std::string table;
  for (const auto& [teaches, items] : lessons)
    table += make_row({fmt::format("{}", fmt::join(items, ", ")), teaches}) + "\n";

  if (lessons.empty() || lessons[0].first.empty()) return syllabus;
  const std::string row = fmt::format("| `{}.", shorten_name(rubric.lab));
  const std::size_t begin = syllabus.find("| task | teaches |\n|---|---|\n" + row);
  if (begin == std::string::npos) {
    throw UsageError(
        fmt::format("SYLLABUS.md: expected a table 'task | teaches' with a row that begins '{}', got none", row));
  }
  const std::size_t rows = syllabus.find(row, begin),
                    end = std::min(syllabus.find("\n\n", rows), syllabus.size() - 1) + 1;
  return syllabus.substr(0, rows) + table + syllabus.substr(end);
}

std::string with_labs(const std::string& readme, const std::string& syllabus) {
  std::map<std::string, Cells> plan;
  change_table(syllabus, "lab", [&](Cells& cells) { plan[cells[0]] = cells; });
  return change_table(readme, "folder", [&](Cells& cells) {
    cells.resize(6);
    const auto lab = plan.find(cells[1]);
    if (lab == plan.end())
      throw UsageError(fmt::format("README.md: the table of labs has a row {}, but SYLLABUS.md has none", cells[1]));
    const Cells& numbers = lab->second;
    cells[3] = numbers[1];
    cells[4] = numbers[6] == "0" ? numbers[5] : numbers[5] + " + " + numbers[6];
  });
}

}  // namespace lab::grading
