#include "grading/submission/hand_in.h"

#include "common/course/rubric/rubric_check.h"

namespace lab::grading {

HandInNames hand_in_names(const KnownLab& lab) {
  HandInNames names;
  const RubricHandIn& asked = lab.rubric.hand_in;
  for (const std::string& file : lab.student_files) {
    if (is_below_one_of(file, asked.sources)) names.sources.push_back(file);
  }
  names.answers.insert(asked.answers.begin(), asked.answers.end());
  for (const RubricManual& manual : lab.rubric.manuals) {
    names.answers.insert(manual.file);
    names.answers.insert(manual.also.begin(), manual.also.end());
  }
  return names;
}

}  // namespace lab::grading
