#include "grading/commands/solution_lab.h"

#include <fmt/format.h>

#include "common/api/errors.h"
#include "common/base/lab_names.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"

namespace lab::grading {

SolutionLab solution_lab(const JudgingPlace& place, const JudgedLab& lab, const char* programs,
                         std::vector<Solution> rows) {
  Rubric rubric = place.rubric(lab);
  BuildRecipe recipe = load_build_recipe(place.root(), place.build(), lab.folder, programs);
  generated::LabMutants mutants = generated::lab_mutants(shorten_name(lab.folder), recipe, rubric, rows);
  return {lab, std::move(rubric), std::move(recipe), std::move(rows), std::move(mutants)};
}

std::vector<generated::TrialReport> performed_by(const std::string& program, const generated::TrialOrder& order) {
  if (order.trials.empty()) return {};
  ProcessSpec command;
  command.argv = {program};
  command.input = json_text(order);
  const ProgramEnd end = run_program(command);
  if (!end.well()) throw UsageError(fmt::format("{} {}", program, end.message()));
  std::vector<generated::TrialReport> reports;
  for (const std::string& line : list_lines(end.out))
    reports.push_back(from_json_text<generated::TrialReport>(line, "a report of " + program));
  return reports;
}

}  // namespace lab::grading
