#include <filesystem>

#include "common/base/files.h"
#include "common/course/hand_in/hand_in.h"
#include "common/course/hand_in/hand_in_names.h"
#include "common/course/starter/answer_template.h"
#include "common/course/starter/backup.h"
#include "common/course/student_files.h"

namespace lab {
namespace {

namespace fs = std::filesystem;

/// What a run may leave: answers that are not written by hand, and what goes with answers.
std::vector<std::string> names_of_results(const CourseTree& tree, const Rubric& lab) {
  std::vector<std::string> names;
  for (const std::string& answer : lab.hand_in.answers) {
    if (!fs::exists(tree.folder_of(lab) + "/" + template_of(answer))) names.push_back(answer);
  }
  const std::vector<std::string> also = hand_in_names(tree, lab).also;
  names.insert(names.end(), also.begin(), also.end());
  return names;
}

/// True if the file is there, and no student file was changed after it.
bool is_up_to_date(const CourseTree& tree, const Rubric& lab, const std::string& name) {
  const std::string path = tree.folder_of(lab) + "/" + name;
  if (!fs::exists(path)) return false;
  const auto time = fs::last_write_time(path);
  for (const std::string& file : student_files(tree, lab)) {
    if (fs::last_write_time(tree.folder_of(lab) + "/" + file) > time) return false;
  }
  return true;
}

}  // namespace

bool needs_run(const CourseTree& tree, const Rubric& lab) {
  if (lab.hand_in.run.compare(0, 4, "none") == 0) return false;
  for (const std::string& name : names_of_results(tree, lab)) {
    if (!is_up_to_date(tree, lab, name)) return true;
  }
  return false;
}

std::vector<std::string> take_results(const CourseTree& tree, const Rubric& lab, const std::string& results) {
  std::vector<std::string> taken;
  for (const std::string& name : names_of_results(tree, lab)) {
    const std::string from = results + "/" + name, to = tree.folder_of(lab) + "/" + name;
    if (!fs::is_regular_file(from) || is_up_to_date(tree, lab, name)) continue;
    const std::string bytes = read_file(from);
    if (fs::exists(to) && read_file(to) != bytes) keep_backup(tree.root(), lab.lab + "/" + name, read_file(to));
    write_file_atomically(to, bytes);
    taken.push_back(lab.lab + "/" + name);
  }
  return taken;
}

}  // namespace lab
