#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "common/cli/app.h"
#include "grading/judge/commands/commands.h"

namespace lab::grading {
namespace {

constexpr char kHelp[] = R"(usage: labgrade COMMAND [arguments]; each knows --help

  grade SUBMISSION [--lab a9] [--task ID] [--out DIR] [--rubric FILE] [--seed S]
                       judge a folder, a zip or a5_answers.md: results.json and report.md for each lab
  marks DIR            recompute the marks of a grading, after marking by hand or with another --rubric
  answers LAB          print the answer key
  mutants [NAME...]    judge the wrong and the unusual solutions, and print what caught each
)";

ExitCode run(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "--help";
  if (word == "grade") return grade_command(argc - 1, argv + 1);
  if (word == "marks") return marks_command(argc - 1, argv + 1);
  if (word == "answers") return answers_command(argc - 1, argv + 1);
  if (word == "mutants") return mutants_command(argc - 1, argv + 1);
  if (word != "--help" && word != "-h" && word != "--version")
    throw UsageError(fmt::format("there is no command '{}'; there is: grade marks answers mutants", word));
  fmt::print("{}", word == "--version" ? "labgrade " + suite_version() + "\n" : kHelp);
  return ExitCode::kAllMatch;
}

}  // namespace
}  // namespace lab::grading

int main(int argc, char** argv) {
  const int code = lab::guarded_main(argc, argv, lab::grading::run);
  std::fflush(nullptr);
  _exit(code);  // skips LibTorch's destructors, which take a tenth of a second
}
