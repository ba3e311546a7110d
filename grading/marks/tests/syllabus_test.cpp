#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "common/base/files.h"
#include "common/base/lab_names.h"
#include "common/base/text.h"
#include "common/course/course_tree.h"
#include "common/course/rubric/rubric.h"
#include "common/course/starter/markers.h"
#include "common/testing/plain_test.h"

// The plan for instructors, and the README's table of labs, say what rubrics and references say.
namespace lab::grading {
namespace {

namespace fs = std::filesystem;

std::string source_path(const std::string& path) {
  const char* source_dir = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(source_dir != nullptr, "LAB_SOURCE_DIR: where the sources are");
  return std::string(source_dir) + "/" + path;
}

/// By short name.
std::map<std::string, Rubric> rubrics() {
  const CourseTree tree = CourseTree::load(source_path(""));
  std::map<std::string, Rubric> found;
  for (const Rubric& rubric : tree.labs()) found.emplace(short_name_of(rubric.lab), rubric);
  return found;
}

std::string_view stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

using Cells = std::vector<std::string>;

/// "| a | b |" is {"a", "b"}.
Cells cells_of(const std::string& line) {
  Cells cells;
  const std::string_view row = stripped(line);
  if (row.empty() || row[0] != '|') return cells;
  for (std::size_t begin = 1; begin < row.size();) {
    const std::size_t end = std::min(row.find('|', begin), row.size());
    cells.emplace_back(stripped(row.substr(begin, end - begin)));
    begin = end + 1;
  }
  return cells;
}

/// The rows of the table whose first heading is this.
std::vector<Cells> table_of(const std::string& text, const std::string& heading) {
  std::vector<Cells> rows;
  bool inside = false;
  for (const std::string& line : lines_of(text)) {
    const Cells cells = cells_of(line);
    if (cells.empty()) {
      inside = false;
    } else if (cells.front() == heading) {
      inside = true;
    } else if (inside && cells.front().find("---") != 0) {
      rows.push_back(cells);
    }
  }
  return rows;
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
    return std::any_of(rubric.manuals.begin(), rubric.manuals.end(), [&](const auto& one) { return one.id == need; });
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

std::size_t words_in(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  std::size_t num_words = 0;
  while (words >> word) ++num_words;
  return num_words;
}

/// Lines of code between the markers of each task, without the rows of tables, which a program has written.
std::map<std::string, int> reference_lines(const std::string& lab) {
  std::map<std::string, int> lines;
  for (const auto& entry : fs::recursive_directory_iterator(source_path(lab + "/student"))) {
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

/// The estimate that the plan explains, for all that full marks need, and for what is beyond.
struct Hours {
  double required = 0, bonus = 0;
};

Hours hours_of(const Rubric& rubric) {
  constexpr double kPerTask = 0.5, kPerLine = 3.0 / 60, kPerWord = 1.0 / 100 / 60;
  const std::set<std::string> required = required_tasks(rubric);
  Hours hours;
  for (const RubricTask& task : rubric.tasks) (required.count(task.id) > 0 ? hours.required : hours.bonus) += kPerTask;
  for (const RubricManual& manual : rubric.manuals) (manual.bonus ? hours.bonus : hours.required) += kPerTask;
  for (const auto& [task, lines] : reference_lines(rubric.lab))
    (required.count(task) > 0 ? hours.required : hours.bonus) += kPerLine * lines;
  for (const auto& entry : fs::directory_iterator(source_path(rubric.lab))) {
    if (entry.path().extension() == ".h" || entry.path().filename() == "README.md")
      hours.required += kPerWord * static_cast<double>(words_in(read_file(entry.path().string())));
  }
  return hours;
}

std::string syllabus() {
  return read_file(source_path("grading/SYLLABUS.md"));
}

TEST_CASE("the plan has each lab's tasks, marks and hours") {
  const std::map<std::string, Rubric> labs = rubrics();
  const std::vector<Cells> rows = table_of(syllabus(), "lab");
  CHECK(rows.size() == labs.size());
  for (const Cells& row : rows) {
    REQUIRE(row.size() == 7);
    CAPTURE(row[0]);
    const auto lab = labs.find(row[0].substr(1, row[0].size() - 2));  // without backquotes
    REQUIRE(lab != labs.end());
    const Rubric& rubric = lab->second;
    const std::size_t num_required = required_tasks(rubric).size();
    const std::size_t num_bonus = rubric.tasks.size() - num_required;
    const double by_hand = marks_by_hand(rubric);
    CHECK(row[1] ==
          (num_bonus == 0 ? fmt::format("{}", num_required) : fmt::format("{} + {}", num_required, num_bonus)));
    CHECK(row[2] == fmt::format("{:g}", rubric.total - by_hand));
    CHECK(row[3] == fmt::format("{:g}", by_hand));
    CHECK(row[4] == fmt::format("{:g}", rubric.bonus_total));
    const Hours hours = hours_of(rubric);
    CAPTURE(hours.required);
    CAPTURE(hours.bonus);
    CHECK(std::abs(std::stod(row[5]) - hours.required) < 0.75);  // a README may grow by a page
    CHECK(std::abs(std::stod(row[6]) - hours.bonus) < 0.75);
  }
}

TEST_CASE("the README's table of labs has the plan's tasks and hours") {
  const std::vector<Cells> plan = table_of(syllabus(), "lab");
  const std::vector<Cells> rows = table_of(read_file(source_path("README.md")), "folder");
  REQUIRE(rows.size() == plan.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(rows[i][0]);
    REQUIRE(rows[i].size() == 6);
    CHECK(rows[i][1] == plan[i][0]);
    CHECK(rows[i][3] == plan[i][1]);
    CHECK(rows[i][4] == (plan[i][6] == "0" ? plan[i][5] : plan[i][5] + " + " + plan[i][6]));
  }
}

TEST_CASE("the plan says of each task and each item what it teaches") {
  const std::string text = syllabus();
  for (const auto& [lab, rubric] : rubrics()) {
    CAPTURE(lab);
    for (const RubricTask& task : rubric.tasks)
      CHECK_MESSAGE(text.find("`" + task.id + "`") != std::string::npos, task.id);
    for (const RubricManual& manual : rubric.manuals)
      CHECK_MESSAGE(text.find("`" + manual.id + "`") != std::string::npos, manual.id);
  }
}

TEST_CASE("what the plan says of mistakes is what a lab's README says") {
  std::string readmes;
  const std::map<std::string, Rubric> labs = rubrics();
  for (const auto& [lab, rubric] : labs) readmes += read_file(source_path(rubric.lab + "/README.md"));
  const std::vector<Cells> rows = table_of(syllabus(), "expected mistake");
  CHECK(rows.size() >= 3 * labs.size());
  for (const Cells& row : rows) {
    CHECK_MESSAGE(readmes.find(row.at(0)) != std::string::npos, row.at(0));
    CHECK_MESSAGE(readmes.find(row.at(1)) != std::string::npos, row.at(1));
  }
}

}  // namespace
}  // namespace lab::grading
