#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/files.h"
#include "common/base/text.h"
#include "common/course/rubric/rubric.h"
#include "common/course/starter/markers.h"
#include "common/testing/plain_test.h"
#include "grading/starter/tests/source_tree.h"

// What a starter must not contain: solutions, answers, what graders look for.
namespace lab::grading {
namespace {

namespace fs = std::filesystem;

/// Lines such as `return x;` or `}` reveal nothing about a solution.
bool is_telling(std::string_view line) {
  std::size_t letters = 0;
  for (const char c : line) letters += std::isalnum(static_cast<unsigned char>(c)) != 0 ? 1 : 0;
  return letters >= 12;
}

/// The source's own files of the starter, in parts.
std::map<std::string, std::vector<SourcePart>> parts_by_path(const StarterTree& starter) {
  std::map<std::string, std::vector<SourcePart>> parts;
  for (const auto& [path, file] : starter) {
    if (path == "README.md" || path[0] == '.') continue;
    const std::string text = read_file(source_dir() + "/" + path);
    if (!has(text, std::string_view("\0", 1))) parts[path] = parts_of_source(text);
  }
  return parts;
}

TEST_CASE("no line of a solution is in the starter") {
  const StarterTree starter = starter_of_all_labs();
  std::set<std::string> provided;             // telling lines outside of regions
  std::map<std::string, std::string> solved;  // telling lines of regions, with their file
  const auto all_parts = parts_by_path(starter);
  for (const auto& [path, parts] : all_parts) {
    for (const SourcePart& part : parts) {
      for (const std::string& line : part.lines) {
        const std::string text(trimmed(line));
        if (!is_telling(text)) continue;
        if (part.task.empty()) {
          provided.insert(text);
        } else {
          solved.emplace(text, path);
        }
      }
    }
  }
  CHECK(solved.size() > 500);
  for (const auto& [path, file] : starter) {
    CAPTURE(path);
    for (const std::string& line : list_lines(file.bytes)) {
      const std::string text(trimmed(line));
      if (solved.count(text) > 0 && provided.count(text) == 0) FAIL_CHECK(text);
    }
  }
}

TEST_CASE(
    "no line of a solution is quoted in a text or comment of the starter, but in hints and what `bench --fit` writes") {
  const StarterTree starter = starter_of_all_labs();
  std::set<std::string> solved;
  std::string provided;
  for (const auto& [path, parts] : parts_by_path(starter)) {
    for (const SourcePart& part : parts) {
      for (const std::string& line : part.lines) {
        const std::string text(trimmed(line));
        if (part.task.empty()) {
          provided += text + "\n";
        } else if (text.size() >= 40 && path.find(".toml") == std::string::npos) {
          solved.insert(text);
        }
      }
    }
  }
  for (const auto& [path, file] : starter) {
    if (has(path, "rubric.toml") || has(path, "bench_fit.cpp")) continue;
    CAPTURE(path);
    for (const std::string& text : solved) {
      if (has(file.bytes, text) && !has(provided, text + "\n")) FAIL_CHECK(text);
    }
  }
}

TEST_CASE("no marker is in the starter") {
  for (const auto& [path, file] : starter_of_all_labs()) {
    CAPTURE(path);
    if (has(file.bytes, std::string_view("\0", 1))) continue;
    CHECK(parse_solution_markers(file.bytes).size() <= 1);
    // What reads markers has to name them.
    if (path == "common/course/starter/markers.cpp" || path == "common/course/starter/markers.h") continue;
    CHECK_FALSE(has(file.bytes, "BEGIN SOLUTION"));
    CHECK_FALSE(has(file.bytes, "END SOLUTION"));
    CHECK_FALSE(has(file.bytes, "// STUB"));
  }
}

TEST_CASE("no folder of graders and authors is in the starter, nor its history") {
  for (const auto& [path, file] : starter_of_all_labs()) {
    CAPTURE(path);
    for (const fs::path& part : fs::path(path)) {
      for (const std::string folder :
           {"grading", "tests", "testing", "answers", "mutants", ".git", ".ci", "build", "out"}) {
        CHECK(part.string() != folder);
      }
    }
    CHECK(fs::path(path).extension() != ".py");  // solutions
  }
}

TEST_CASE("what a grader looks for is not in the starter") {
  const StarterTree starter = starter_of_all_labs();
  std::size_t num_looked_for = 0;
  for (const std::string& lab : labs_of_source(source_dir())) {
    for (const RubricManual& manual : load_rubric(source_dir() + "/" + lab + "/rubric.toml").manuals) {
      CAPTURE(manual.id);
      REQUIRE_FALSE(manual.look_for.empty());
      ++num_looked_for;
      for (const auto& [path, file] : starter) {
        CAPTURE(path);
        CHECK_FALSE(has(file.bytes, manual.look_for));
      }
    }
  }
  CHECK(num_looked_for >= 8);
}

/// A heading, a command or a picture's name that both an answer and the assignment have.
bool is_frame(std::string_view line) {
  return line[0] == '#' || line[0] == '!' || line.compare(0, 6, "./lab ") == 0;
}

TEST_CASE("no line of a reference answer is in the starter's texts, but those of the template") {
  const StarterTree starter = starter_of_all_labs();
  std::size_t num_answers = 0;
  for (const std::string& lab : labs_of_source(source_dir())) {
    for (const auto& entry : fs::directory_iterator(source_dir() + "/" + lab + "/answers")) {
      const std::string name = entry.path().stem().string();
      if (entry.path().extension() != ".md" || name == "README") continue;
      ++num_answers;
      const std::string& frame = starter.at(lab + "/" + name + ".template.md").bytes;
      for (const std::string& whole_line : list_lines(read_file(entry.path().string()))) {
        const std::string line(trimmed(whole_line));
        if (!is_telling(line) || is_frame(line) || has(frame, line)) continue;
        CAPTURE(line);
        for (const auto& [path, file] : starter) {
          CAPTURE(path);
          if (fs::path(path).extension() == ".md") CHECK_FALSE(has(file.bytes, line));
        }
      }
    }
  }
  CHECK(num_answers >= 3);
}

using Row = std::vector<double>;

/// The numbers of a text, of `1,017` one; not those of names such as conv2d.
Row read_numbers(std::string_view text) {
  Row numbers;
  for (std::size_t i = 0; i < text.size();) {
    const bool in_word = i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0 || text[i - 1] == '_');
    std::size_t end = i;
    std::string digits;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0) {
      const bool inner = (text[end] == '.' || text[end] == ',') && end + 1 < text.size() &&
                         std::isdigit(static_cast<unsigned char>(text[end + 1])) != 0;
      if (std::isdigit(static_cast<unsigned char>(text[end])) == 0 && !inner) break;
      if (text[end] != ',') digits += text[end];
      ++end;
    }
    if (!digits.empty() && !in_word) numbers.push_back(std::strtod(digits.c_str(), nullptr));
    i = std::max(end, i + 1);
  }
  return numbers;
}

/// Fewer numbers, or equal ones, occur anywhere.
bool is_telling(const Row& row) {
  return row.size() >= 5 && std::set<double>(row.begin(), row.end()).size() >= 3;
}

bool has_row(std::string_view text, const Row& row) {
  for (const std::string& line : list_lines(text)) {
    const Row numbers = read_numbers(line);
    if (std::search(numbers.begin(), numbers.end(), row.begin(), row.end()) != numbers.end()) return true;
  }
  return false;
}

/// The rows of an answer's tables, and their cells.
std::vector<std::string> rows_and_cells(const std::string& answer) {
  std::vector<std::string> found;
  for (const std::string& line : list_lines(answer)) {
    const std::string_view row = trimmed(line);
    if (row.empty() || row[0] != '|') continue;
    found.emplace_back(row);
    for (std::size_t begin = 1; begin < row.size();) {
      const std::size_t end = std::min(row.find('|', begin), row.size());
      found.emplace_back(trimmed(row.substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  return found;
}

/// Rows of answers that students may read, each with its reason.
struct PublicRow {
  std::string_view path;
  Row numbers;
};

const std::vector<PublicRow>& public_rows() {
  // Live activations, as the provided schedules measure them: the report's part 4 asks why they are what they are.
  static const std::vector<PublicRow> rows = {
      {"optC_model_parallel/README.md", {1000, 0.236, 0.254, 0.044, 0.005}},
      {"optC_model_parallel/README.md", {10000, 0.236, 0.254, 0.044, 0.005}},
      {"optC_model_parallel/README.md", {1000, 0.100, 4.911, 0.522, 0.340}},
  };
  return rows;
}

bool is_public(const std::string& path, const Row& row) {
  const auto allowed = [&](const PublicRow& one) {
    return one.path == path && std::search(row.begin(), row.end(), one.numbers.begin(), one.numbers.end()) != row.end();
  };
  return std::any_of(public_rows().begin(), public_rows().end(), allowed);
}

std::map<std::string, std::string> read_answers(const std::string& lab) {
  std::map<std::string, std::string> answers;
  for (const auto& entry : fs::directory_iterator(source_dir() + "/" + lab + "/answers")) {
    if (entry.path().filename() != "README.md") answers[entry.path().filename()] = read_file(entry.path().string());
  }
  return answers;
}

/// Texts that a student reads to learn what to do. Other files are code, whose numbers mean other things.
bool is_read_for(const std::string& path, const std::string& lab) {
  const std::string ending = fs::path(path).extension();
  return path.compare(0, lab.size() + 1, lab + "/") == 0 && (ending == ".md" || ending == ".h" || ending == ".toml");
}

TEST_CASE("the numbers of a text are those that it shows") {
  CHECK(read_numbers("| 3 | [0.0, 10.0], 1,017 conv2d x_4 |") == Row{3, 0, 10, 1017});
  CHECK(has_row("every rank gets [0, 10, 1, 11, 2, 12]", {0, 10, 1, 11, 2, 12}));
  CHECK_FALSE(has_row("every rank gets [0, 10, 1]\n[11, 2, 12]", {0, 10, 1, 11, 2, 12}));
}

TEST_CASE("no row of numbers of a reference answer is in its lab's texts") {
  const StarterTree starter = starter_of_all_labs();
  std::size_t num_rows = 0;
  for (const std::string& lab : labs_of_source(source_dir())) {
    for (const auto& [name, answer] : read_answers(lab)) {
      if (fs::path(name).extension() != ".md") continue;
      const std::string frame = starter.at(lab + "/" + fs::path(name).stem().string() + ".template.md").bytes;
      for (const std::string& text : rows_and_cells(answer)) {
        const Row row = read_numbers(text);
        if (!is_telling(row) || has_row(frame, row)) continue;
        ++num_rows;
        CAPTURE(text);
        for (const auto& [path, file] : starter) {
          CAPTURE(path);
          if (is_read_for(path, lab) && !is_public(path, row)) CHECK_FALSE(has_row(file.bytes, row));
        }
      }
    }
  }
  CHECK(num_rows >= 10);
}

TEST_CASE("no example of a header ends with the value that a written question asks for") {
  const StarterTree starter = starter_of_all_labs();
  std::size_t num_examples = 0;
  for (const std::string& lab : labs_of_source(source_dir())) {
    std::set<Row> asked;
    for (const auto& [name, answer] : read_answers(lab)) {
      if (fs::path(name).extension() != ".md") continue;
      for (const std::string& text : rows_and_cells(answer)) {
        const bool is_value = text.find_first_not_of("0123456789., []") == std::string::npos;
        if (is_value && !read_numbers(text).empty()) asked.insert(read_numbers(text));
      }
    }
    for (const auto& [path, file] : starter) {
      if (!is_read_for(path, lab) || fs::path(path).extension() != ".h") continue;
      for (const std::string& line : list_lines(file.bytes)) {
        const std::size_t result = line.rfind(": ");
        if (!has(line, "/// Example") || result == std::string::npos) continue;
        ++num_examples;
        CAPTURE(path);
        CAPTURE(line);
        CHECK(asked.count(read_numbers(std::string_view(line).substr(result))) == 0);
      }
    }
  }
  CHECK(num_examples >= 5);
}

TEST_CASE("no picture of a reference answer is in the starter") {
  const StarterTree starter = starter_of_all_labs();
  std::size_t num_pictures = 0;
  for (const std::string& lab : labs_of_source(source_dir())) {
    for (const auto& [name, answer] : read_answers(lab)) {
      if (fs::path(name).extension() == ".md") continue;
      ++num_pictures;
      CAPTURE(name);
      for (const auto& [path, file] : starter) {
        CAPTURE(path);
        CHECK(file.bytes != answer);
      }
    }
  }
  CHECK(num_pictures >= 7);
}

}  // namespace
}  // namespace lab::grading
