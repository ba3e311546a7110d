#include "grading/submission/hand_in.h"

#include <algorithm>
#include <filesystem>

#include "common/course/rubric_check.h"

namespace lab::grading {
namespace {

std::string name_without_ending(const std::string& name) {
  return std::filesystem::path(name).stem().string();
}

/// A file that `also` names and that differs only in its kind takes the place of the item's own; others belong to it.
bool is_replaced(const KnownLab& lab, const std::string& answer, const std::set<std::string>& handed_in) {
  return std::any_of(lab.rubric.manuals.begin(), lab.rubric.manuals.end(), [&](const RubricManual& manual) {
    return manual.file == answer && std::any_of(manual.also.begin(), manual.also.end(), [&](const std::string& other) {
             return handed_in.count(other) != 0 && name_without_ending(other) == name_without_ending(answer);
           });
  });
}

}  // namespace

HandInNames hand_in_names(const KnownLab& lab) {
  HandInNames names;
  const RubricHandIn& asked = lab.rubric.hand_in;
  for (const std::string& file : lab.student_files) {
    if (is_below_one_of(file, asked.sources)) names.sources.push_back(file);
  }
  names.required_answers = asked.answers;
  names.answers.insert(asked.answers.begin(), asked.answers.end());
  for (const RubricManual& manual : lab.rubric.manuals) {
    names.answers.insert(manual.file);
    names.answers.insert(manual.also.begin(), manual.also.end());
  }
  return names;
}

std::vector<std::string> missing_answers(const KnownLab& lab, const std::set<std::string>& handed_in) {
  std::vector<std::string> missing;
  for (const std::string& answer : lab.rubric.hand_in.answers) {
    if (handed_in.count(answer) == 0 && !is_replaced(lab, answer, handed_in)) missing.push_back(answer);
  }
  return missing;
}

}  // namespace lab::grading
