#include "common/course/hand_in/hand_in_names.h"

#include <algorithm>
#include <filesystem>

#include "common/course/rubric/rubric_check.h"
#include "common/course/starter/starter_tree.h"
#include "common/course/student_files.h"

namespace lab {
namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string without_extension(const std::string& name) {
  return std::filesystem::path(name).replace_extension().string();
}

bool is_replaced(const Rubric& lab, const std::string& answer, const std::set<std::string>& handed_in) {
  return std::any_of(lab.manuals.begin(), lab.manuals.end(), [&](const RubricManual& manual) {
    return manual.file == answer && std::any_of(manual.also.begin(), manual.also.end(), [&](const std::string& other) {
             return handed_in.count(other) != 0 && without_extension(other) == without_extension(answer);
           });
  });
}

}  // namespace

bool HandInNames::is_answer(const std::string& path) const {
  return holds(answers, path) || holds(also, path);
}

HandInNames hand_in_names(const Rubric& lab, const std::vector<std::string>& student_files) {
  HandInNames names;
  for (const std::string& file : student_files) {
    if (is_below_any(file, lab.hand_in.sources)) names.sources.push_back(file);
  }
  names.answers = lab.hand_in.answers;
  for (const RubricManual& manual : lab.manuals) {
    for (const std::string& name : manual.also) {
      if (!names.is_answer(name)) names.also.push_back(name);
    }
  }
  return names;
}

HandInNames hand_in_names(const CourseTree& tree, const Rubric& lab) {
  const std::string begin = lab.lab + "/";
  std::vector<std::string> handed_out;
  for (const auto& [path, fingerprint] : read_starter_list(tree.root())) {
    if (path.compare(0, begin.size(), begin) == 0) handed_out.push_back(path.substr(begin.size()));
  }
  if (handed_out.empty()) {
    for (const std::string& source : lab.hand_in.sources) {
      for (const std::string& file : files_below(tree, lab, source)) handed_out.push_back(file);
    }
  }
  return hand_in_names(lab, handed_out);
}

std::vector<std::string> missing_answers(const Rubric& lab, const std::set<std::string>& handed_in) {
  std::vector<std::string> missing;
  for (const std::string& answer : lab.hand_in.answers) {
    if (handed_in.count(answer) == 0 && !is_replaced(lab, answer, handed_in)) missing.push_back(answer);
  }
  return missing;
}

std::vector<std::string> pictures_in(const std::string& markdown) {
  std::vector<std::string> pictures;
  for (std::size_t at = markdown.find("!["); at != std::string::npos; at = markdown.find("![", at + 2)) {
    const std::size_t begin = markdown.find("](", at), line_end = markdown.find('\n', at);
    if (begin == std::string::npos || begin > line_end) continue;
    const std::size_t end = markdown.find_first_of(") \n", begin);
    const std::string name = markdown.substr(begin + 2, end - begin - 2);
    if (is_inner_path(name) && name.find(':') == std::string::npos && !holds(pictures, name)) pictures.push_back(name);
  }
  return pictures;
}

}  // namespace lab
