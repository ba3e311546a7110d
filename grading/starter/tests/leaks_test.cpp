#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <map>
#include <set>

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
std::map<std::string, std::vector<SourcePart>> parts_of_source(const StarterTree& starter) {
  std::map<std::string, std::vector<SourcePart>> parts;
  for (const auto& [path, file] : starter) {
    if (path == "README.md" || path[0] == '.') continue;
    const std::string text = read_file(source_dir() + "/" + path);
    if (!has(text, std::string_view("\0", 1))) parts[path] = parse_solution_markers(text);
  }
  return parts;
}

TEST_CASE("no line of a solution is in the starter") {
  const StarterTree starter = starter_of_all_labs();
  std::set<std::string> provided;             // telling lines outside of regions
  std::map<std::string, std::string> solved;  // telling lines of regions, with their file
  const auto all_parts = parts_of_source(starter);
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
    for (const std::string& line : lines_of(file.bytes)) {
      const std::string text(trimmed(line));
      if (solved.count(text) > 0 && provided.count(text) == 0) FAIL_CHECK(text);
    }
  }
}

TEST_CASE("no line of a solution is quoted in a text or comment of the starter, but in hints") {
  const StarterTree starter = starter_of_all_labs();
  std::set<std::string> solved;
  std::string provided;
  for (const auto& [path, parts] : parts_of_source(starter)) {
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
    if (path.find("rubric.toml") != std::string::npos) continue;
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
    CHECK(fs::path(path).extension() != ".py");
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
      for (const std::string& whole_line : lines_of(read_file(entry.path().string()))) {
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

}  // namespace
}  // namespace lab::grading
