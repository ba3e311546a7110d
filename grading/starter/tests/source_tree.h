#pragma once

#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/course/rubric/rubric.h"
#include "common/course/starter/markers.h"
#include "common/testing/plain_test.h"
#include "grading/starter/derive_starter.h"

// The suite's own source tree, for the tests of the starter.
namespace lab::grading {

inline std::string source_dir() {
  const char* folder = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(folder != nullptr, "LAB_SOURCE_DIR: where the sources are");
  return folder;
}

inline StarterTree derive_from(const std::vector<std::string>& labs) {
  return derive_starter(source_dir(), labs);
}

inline StarterTree starter_of_all_labs() {
  return derive_from(labs_of_source(source_dir()));
}

/// The parts of a file; the code of tasks that are given is in every tree.
inline std::vector<SourcePart> parts_of_source(const std::string& text) {
  static const std::set<std::string> given = [] {
    std::set<std::string> ids;
    for (const std::string& lab : labs_of_source(source_dir())) {
      for (const RubricTask& task : load_rubric(source_dir() + "/" + lab + "/rubric.toml").given) ids.insert(task.id);
    }
    return ids;
  }();
  std::vector<SourcePart> parts = parse_solution_markers(text);
  for (SourcePart& part : parts) {
    if (given.count(part.task) != 0) part.task.clear();
  }
  return parts;
}

inline std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r\n") - begin + 1);
}

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace lab::grading
