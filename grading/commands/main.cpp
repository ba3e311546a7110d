#include <unistd.h>

#include <cstdio>

#include "common/launch/supervise/janitor.h"
#include "grading/commands/commands.h"

namespace lab::grading {
namespace {

ExitCode run(int argc, char** argv) {
  cli::App app("labgrade", "Judges submissions.");
  app.add_commands({{"grade",
                     "judges a folder, a zip or a5_answers.md\n"
                     "It is built and run; results.json and report.md are left for each lab.",
                     grade_command},
                    {"grade-all",
                     "judges the submissions of a class\n"
                     "A folder of them, or a bulk download of Canvas, Moodle or Gradescope. What is graded already is\n"
                     "not graded again, so it goes on where it was stopped.",
                     grade_all_command},
                    {"grade-one", "what grade-all --through starts for each submission", grade_one_command},
                    {"similar",
                     "compares the submissions of a class with each other\n"
                     "Prints the pairs with the most code in common, and leaves a page with both side by side.",
                     similar_command},
                    {"marks", "recomputes a grading's marks, running nothing", marks_command},
                    {"answers",
                     "prints the answer key\n"
                     "What an instructor marks by: items, marks, what to look for, reference answers.",
                     answers_command},
                    {"solutions",
                     "tries wrong and unusual solutions\n"
                     "Each must lose marks where it is wrong, and only there; prints what nothing caught.",
                     solutions_command},
                    {"hostile",
                     "grades hand-ins that attack the grading\n"
                     "None may earn marks, learn secrets, or leave anything behind; prints what the report said.",
                     hostile_command}});
  const launch::Janitor janitor;  // a grading that is killed leaves nothing behind
  return app.run(argc, argv);
}

}  // namespace
}  // namespace lab::grading

int main(int argc, char** argv) {
  const int code = lab::cli::guarded_main(argc, argv, lab::grading::run);
  std::fflush(nullptr);
  _exit(code);  // skips LibTorch's destructors, which take a tenth of a second
}
