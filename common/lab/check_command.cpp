#include "common/lab/check_command.h"

#include <fmt/format.h>

#include <vector>

#include "common/lab/check_report.h"
#include "common/lab/check_run.h"
#include "common/lab/lab_main.h"
#include "common/lab/named_cases.h"
#include "common/launch/one_rank.h"
#include "common/report/app.h"
#include "common/report/atomic_file.h"

namespace lab {

ExitCode check_command(int argc, char** argv, const LabProgram& program) {
  use_threads(1);  // before a fork there must be no pool of threads
  std::vector<char*> words(argv + 1, argv + argc);
  std::string name;
  if (words.size() > 1 && words[1][0] != '-') {
    name = words[1];
    words.erase(words.begin() + 1);
  }
  App app(program.name + " check", "Runs the checks of one task, or of all, and says what is wrong: check [TASK].");
  WorldSpec world;
  world.kind = WorldKind::kProcesses;
  world.timeout_seconds = CommonOptions().timeout_seconds;
  std::uint64_t seed = program.defaults.seed;
  std::string json_file;
  world.num_ranks = program.defaults.num_ranks;
  app.add_whole_number("--nproc", world.num_ranks, {1, 4096}, "ranks to start");
  if (!program.ranks_option.empty())
    app.add_whole_number(program.ranks_option, world.num_ranks, {1, 4096}, "the same as --nproc");
  app.add_seed("--seed", seed, "of weights and data");
  app.add_timeout(world.timeout_seconds);
  app.add_text("--json", json_file, "FILE", "the results as JSON");
  if (const auto done = app.parse(static_cast<int>(words.size()), words.data())) return *done;
  if (program.validate) program.validate(world.num_ranks);
  const std::vector<Case> cases = name.empty() ? program.cases : named_cases(program.cases, name, "check");
  if (!json_file.empty()) AtomicFile{json_file};  // what cannot be written is known before the run, not after it

  const std::vector<TaskCheck> checks = run_checks(cases, program.calls, world, seed);
  int exit_code = 0;
  for (const TaskCheck& check : checks) {
    fmt::print("{}", check_text(check));
    if (exit_code == 0) exit_code = check.exit_code();
  }
  if (checks.size() > 1) fmt::print("{}", summary_text(checks));
  if (!json_file.empty()) write_file_atomically(json_file, check_json(checks));
  return static_cast<ExitCode>(exit_code);
}

}  // namespace lab
