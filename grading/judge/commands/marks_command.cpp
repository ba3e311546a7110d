#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "common/cli/app.h"
#include "grading/judge/commands/commands.h"
#include "grading/judge/judging_place.h"
#include "grading/judge/result_files.h"
#include "grading/marks/answer_key.h"
#include "grading/marks/shown_marks.h"

namespace lab::grading {
namespace {

/// The folders of single labs: the one given, or those in it.
std::vector<std::string> graded_folders(const std::string& folder) {
  const auto is_graded = [](const std::string& path) { return std::filesystem::exists(path + "/outcome.json"); };
  if (is_graded(folder)) return {folder};
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (is_graded(entry.path().string())) found.push_back(entry.path().string());
  }
  if (found.empty())
    throw UsageError(fmt::format("{}: expected the results of a grading, found no outcome.json", folder));
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

ExitCode marks_command(int argc, char** argv) {
  App app("labgrade marks", "Recomputes the marks of a grading, without running anything.");
  std::string folder, source = ".", rubric;
  app.add_required_file(folder, "the folder that `grade --out` wrote, or that of one lab in it");
  app.add_text("--source", source, "DIR", "the suite's own tree");
  app.add_text("--rubric", rubric, "FILE", "other marks and weights than the labs' own");
  if (const auto done = app.parse(argc, argv)) return *done;
  for (const std::string& one : graded_folders(folder)) {
    const LabOutcome outcome = read_results(one);
    const LabMarks marks = write_results(one, rubric_of(judged_lab(outcome.lab), source, rubric), outcome);
    fmt::print("{}  {}/report.md\n", headline(marks), one);
  }
  return ExitCode::kAllMatch;
}

ExitCode answers_command(int argc, char** argv) {
  App app("labgrade answers", "Prints what an instructor marks by: items, marks, what to look for, reference answers.");
  std::string name, source = ".", rubric;
  app.add_required_file(name, "the lab, such as a9");
  app.add_text("--source", source, "DIR", "the suite's own tree");
  app.add_text("--rubric", rubric, "FILE", "other marks and weights than the lab's own");
  if (const auto done = app.parse(argc, argv)) return *done;
  const JudgedLab& lab = judged_lab(name);
  fmt::print("{}", answer_key(rubric_of(lab, source, rubric), source + "/" + lab.folder));
  return ExitCode::kAllMatch;
}

}  // namespace lab::grading
