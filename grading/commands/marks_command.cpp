#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "grading/commands/commands.h"
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

void marks_command(cli::App& app) {
  auto& folder = app.own(std::string());
  auto& options = app.own(RubricOptions());
  app.add_argument("DIR", folder, "the folder that `grade --out` wrote, or that of one lab in it");
  options.add_to(app);
  app.set_action([&] {
    for (const std::string& one : graded_folders(folder)) {
      const LabOutcome outcome = read_results(one);
      const Rubric rubric = load_lab_rubric(judged_lab(outcome.lab), options.source, options.rubric);
      fmt::print("{}  {}/report.md\n", headline(write_results(one, rubric, outcome)), one);
    }
    return ExitCode::kAllMatch;
  });
}

void answers_command(cli::App& app) {
  auto& name = app.own(std::string());
  auto& options = app.own(RubricOptions());
  auto& student = app.own(std::string());
  app.add_argument("LAB", name, "such as a9");
  app.add_text("--for", student, "ID", "also the questions of this student, and what their tables must hold");
  options.add_to(app);
  app.set_action([&] {
    const JudgedLab& lab = judged_lab(name);
    const Rubric rubric = load_lab_rubric(lab, options.source, options.rubric);
    fmt::print("{}", answer_key(rubric, options.source + "/" + lab.folder, student));
    return ExitCode::kAllMatch;
  });
}

}  // namespace lab::grading
