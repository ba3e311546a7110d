#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <string>
#include <vector>

#include "common/base/text.h"
#include "common/cli/app.h"
#include "common/cli/guarded_main.h"
#include "common/course/course_commands.h"

// Implements the student's commands of ./lab, except for building and running: no tensors, so it starts in
// milliseconds.
namespace lab {
namespace {

using Command = ExitCode (*)(int argc, char** argv);

const std::map<std::string, Command>& course_commands() {
  static const std::map<std::string, Command> commands = {
      {"next", next_command},     {"hint", hint_command},        {"reset", reset_command},
      {"status", status_command}, {"update", update_command},    {"plan", plan_command},
      {"record", record_command}, {"wait", wait_command},        {"needs-run", needs_run_command},
      {"pack", pack_command},     {"identity", identity_command}};
  return commands;
}

ExitCode run(int argc, char** argv) {
  std::vector<std::string> words;
  for (const auto& [word, command] : course_commands()) words.push_back(word);
  if (argc > 1) {
    const auto found = course_commands().find(argv[1]);
    if (found != course_commands().end()) return found->second(argc - 1, argv + 1);
  }
  App app("labcourse", fmt::format("What ./lab's student commands do. Commands: {}", fmt::join(words, ", ")));
  if (argc > 1 && argv[1][0] == '-') {
    if (const auto answered = app.parse(argc, argv)) return *answered;
  }
  const std::string word = argc > 1 ? argv[1] : "nothing";
  const auto meant = nearest(word, words);
  throw UsageError(fmt::format("expected one of: {}; got '{}'{}", fmt::join(words, ", "), word,
                               meant ? fmt::format("; did you mean '{}'?", *meant) : ""));
}

}  // namespace
}  // namespace lab

int main(int argc, char** argv) {
  return lab::guarded_main(argc, argv, lab::run);
}
