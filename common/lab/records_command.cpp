#include "common/lab/records_command.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/lab/lab_main.h"
#include "common/lab/named_cases.h"
#include "common/lab/record_world.h"
#include "common/launch/one_rank.h"
#include "common/report/app.h"
#include "common/report/nearest.h"
#include "common/report/number_list.h"

namespace lab {
namespace {

std::vector<int> descriptors_in(const std::string& text, int num_ranks) {
  std::vector<int> descriptors;
  for (const std::int64_t number : numbers_in("--descriptors", text, {0, 1 << 20})) {
    const int flags = ::fcntl(static_cast<int>(number), F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
      throw UsageError(fmt::format("--descriptors: {} is not open for writing", number));
    descriptors.push_back(static_cast<int>(number));
  }
  if (static_cast<int>(descriptors.size()) != num_ranks)
    throw UsageError(
        fmt::format("--descriptors: expected {}, one for each rank, got {}", num_ranks, descriptors.size()));
  return descriptors;
}

/// The cases that the list names, by their tasks or their own names, in the table's order; all, if it is empty.
std::vector<Case> cases_of_list(const std::vector<Case>& cases, const std::string& list) {
  if (list.empty()) return cases;
  std::vector<std::string> known = tasks_of(cases);
  for (const Case& the_case : cases) known.push_back(the_case.name);
  std::vector<std::string> wanted;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    wanted.push_back(list.substr(begin, end - begin));
    begin = end + 1;
    if (std::find(known.begin(), known.end(), wanted.back()) != known.end()) continue;
    const auto meant = nearest(wanted.back(), known);
    throw UsageError(
        fmt::format("--tasks: there is no task '{}'; hint: such as {}", wanted.back(), meant ? *meant : known.front()));
  }
  std::vector<Case> chosen;
  const auto is_wanted = [&](const std::string& name) {
    return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  };
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(chosen),
               [&](const Case& the_case) { return is_wanted(the_case.task) || is_wanted(the_case.name); });
  return chosen;
}

}  // namespace

ExitCode records_command(int argc, char** argv, const LabProgram& program) {
  use_threads(1);  // before a fork there must be no pool of threads
  App app(program.name + " records", "Performs the cases of some tasks and writes what they returned: for a judge.");
  std::string descriptors, tasks;
  WorldSpec world;
  world.kind = WorldKind::kProcesses;
  world.timeout_seconds = CommonOptions().timeout_seconds;
  std::uint64_t seed = CommonOptions().seed;
  app.add_whole_number("--nproc", world.num_ranks, {1, 4096}, "ranks to start");
  app.add_seed("--seed", seed, "of weights and data");
  app.add_text("--descriptors", descriptors, "LIST", "where each rank writes");
  app.add_text("--tasks", tasks, "LIST", "ids, or names of checks, with commas between them; all where left out");
  app.add_timeout(world.timeout_seconds);
  if (const auto done = app.parse(argc - 1, argv + 1)) return *done;
  if (program.validate) program.validate(world.num_ranks);

  const std::vector<Case> cases = cases_of_list(program.cases, tasks);
  const WorldOutcome outcome =
      run_record_world(cases, program.calls, world, seed, descriptors_in(descriptors, world.num_ranks));
  explain_failure(program.name, outcome);
  return static_cast<ExitCode>(outcome.exit_code());
}

}  // namespace lab
