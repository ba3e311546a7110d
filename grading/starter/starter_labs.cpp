#include "grading/starter/starter_labs.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/course/course_tree.h"
#include "common/course/starter/starter_tree.h"
#include "common/course/starter/what_to_read.h"

namespace lab::grading {

std::vector<std::string> labs_of_source(const std::string& source) {
  if (!std::filesystem::exists(source + "/grading")) {
    throw UsageError(fmt::format("--source {}: expected the suite's own source tree, with grading/ and labs", source));
  }
  const CourseTree tree = CourseTree::load(source);
  std::vector<std::string> labs;
  for (const Rubric& lab : tree.labs()) {
    require_sections(lab, read_file(tree.folder_of(lab) + "/README.md"));
    labs.push_back(lab.lab);
  }
  return labs;
}

std::vector<std::string> labs_of_starter(const std::string& folder, const std::vector<std::string>& known) {
  const std::map<std::string, std::string> files = read_starter_list(folder);
  std::vector<std::string> labs;
  for (const std::string& lab : known) {
    if (files.count(lab + "/rubric.toml") > 0) labs.push_back(lab);
  }
  return labs;
}

std::vector<std::string> chosen_labs(const std::string& names, const std::string& source) {
  const CourseTree tree = CourseTree::load(source);
  std::set<std::string> chosen;
  std::istringstream words(names);
  for (std::string name; std::getline(words, name, ',');) chosen.insert(tree.lab_named(name).lab);
  if (chosen.empty()) throw UsageError("--labs: expected labs such as a4,a9, got nothing");
  return {chosen.begin(), chosen.end()};
}

}  // namespace lab::grading
