#include "grading/judge/result_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <vector>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/course/hand_in/archive.h"
#include "grading/marks/manual_marks.h"
#include "grading/marks/outcome_json.h"
#include "grading/marks/writers.h"

namespace lab::grading {
namespace {

std::map<std::string, std::string> answers_in(const std::string& folder) {
  const std::string answers = folder + "/answers";
  return std::filesystem::exists(answers) ? read_folder(answers).files : std::map<std::string, std::string>();
}

}  // namespace

LabMarks write_results(const std::string& folder, const Rubric& rubric, const LabOutcome& outcome) {
  make_folder("--out", folder);
  const std::string by_hand = folder + "/manual.toml";
  const LabMarks marks = compute_marks(rubric, outcome, load_manual_marks(by_hand, rubric));
  write_file_atomically(folder + "/outcome.json", outcome_to_json(outcome));
  write_file_atomically(folder + "/results.json", to_gradescope_json(marks, outcome));
  write_file_atomically(folder + "/report.md", to_markdown(marks, outcome));
  write_file_atomically(folder + "/report.html", to_html(marks, outcome));
  write_manual_form(by_hand, rubric, marks);
  std::filesystem::remove_all(folder + "/answers");  // from an earlier submission
  for (const auto& [name, bytes] : outcome.answers) {
    const std::filesystem::path path = folder + "/answers/" + name;
    make_folder("--out", path.parent_path().string());
    write_file_atomically(path.string(), bytes);
  }
  return marks;
}

LabOutcome read_results(const std::string& folder) {
  const std::string file = folder + "/outcome.json";
  LabOutcome outcome = outcome_from_json(read_file(file), file);
  outcome.answers = answers_in(folder);
  return outcome;
}

}  // namespace lab::grading
