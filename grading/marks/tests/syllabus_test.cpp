
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "common/base/files.h"
#include "common/base/lab_names.h"
#include "common/base/text.h"
#include "common/course/course_tree.h"
#include "common/course/rubric/rubric.h"
#include "common/testing/plain_test.h"

// The plan for instructors says of mistakes what the labs say.
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
  for (const Rubric& rubric : tree.labs()) found.emplace(shorten_name(rubric.lab), rubric);
  return found;
}

std::string_view stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

using Cells = std::vector<std::string>;

/// "| a | b |" is {"a", "b"}.
Cells split_cells(const std::string& line) {
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
std::vector<Cells> render_table(const std::string& text, const std::string& heading) {
  std::vector<Cells> rows;
  bool inside = false;
  for (const std::string& line : list_lines(text)) {
    const Cells cells = split_cells(line);
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

std::string syllabus() {
  return read_file(source_path("grading/SYLLABUS.md"));
}

TEST_CASE("what the plan says of mistakes is what a lab's README says") {
  std::string readmes;
  const std::map<std::string, Rubric> labs = rubrics();
  for (const auto& [lab, rubric] : labs) {
    readmes += read_file(source_path(rubric.lab + "/README.md"));
    readmes += read_file(source_path(rubric.lab + "/answers/README.md"));
  }
  const std::vector<Cells> rows = render_table(syllabus(), "expected mistake");
  CHECK(rows.size() >= 3 * labs.size());
  for (const Cells& row : rows) {
    CHECK_MESSAGE(readmes.find(row.at(0)) != std::string::npos, row.at(0));
    CHECK_MESSAGE(readmes.find(row.at(1)) != std::string::npos, row.at(1));
  }
}

}  // namespace
}  // namespace lab::grading
