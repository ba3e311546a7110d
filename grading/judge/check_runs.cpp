#include "grading/judge/check_runs.h"

#include <fmt/format.h>

#include "common/report/counted.h"
#include "common/report/errors.h"
#include "grading/judge/not_judged.h"

namespace lab::grading {
namespace {

CheckRun judged(const DecidingWorld<CaseWorld>& deciding, const Case& the_case, std::uint64_t seed) {
  const CaseWorld& world = *deciding.world;
  CheckRun run;
  run.verdict = world.judged(the_case, seed);
  if (!deciding.to_blame) return run;
  if (!world.ok()) run.sentence = world.broken.empty() ? world.sentence : world.broken;
  run.deadlocked = world.result.end == SandboxResult::End::kExited &&
                   world.result.exit_code == static_cast<int>(ExitCode::kDeadlock);
  return run;
}

}  // namespace

std::vector<CheckRun> CheckRunner::run(int num_ranks, const std::vector<Case>& cases) const {
  CaseWorldSpec spec;
  spec.program = program;
  spec.num_ranks = num_ranks;
  spec.seed = seed;
  spec.stall_seconds = stall_seconds;
  const auto deciding = perform_apart<CaseWorld>(cases, [&](const std::vector<Case>& some) {
    spec.cases.clear();
    for (const Case& the_case : some) spec.cases.push_back(the_case.name);
    CaseWorld world = run_case_world(sandbox, spec);
    if (world.is_machines_fault) world = run_case_world(sandbox, spec);
    if (world.is_machines_fault)
      throw NotJudged(fmt::format("twice, on {}: {}", counted(num_ranks, "rank"), world.sentence));
    return world;
  });
  std::vector<CheckRun> runs;
  for (std::size_t i = 0; i < cases.size(); ++i) runs.push_back(judged(deciding[i], cases[i], seed));
  return runs;
}

}  // namespace lab::grading
