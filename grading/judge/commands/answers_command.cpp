#include <fmt/format.h>

#include "common/cli/app.h"
#include "grading/judge/commands/commands.h"
#include "grading/judge/judging_place.h"
#include "grading/marks/answer_key.h"

namespace lab::grading {

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
