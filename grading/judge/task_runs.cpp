#include "grading/judge/task_runs.h"

#include <algorithm>

#include "common/report/errors.h"

namespace lab::grading {
namespace {

bool all_passed(const TaskRun& run) {
  return std::all_of(run.verdicts.begin(), run.verdicts.end(),
                     [](const CaseVerdict& verdict) { return verdict.passed() || verdict.skipped(); });
}

}  // namespace

CaseWorld TaskRunner::world(int num_ranks, const std::vector<std::string>& tasks) const {
  CaseWorldSpec spec;
  spec.program = program;
  spec.num_ranks = num_ranks;
  spec.seed = seed;
  spec.tasks = tasks;
  spec.stall_seconds = stall_seconds;
  return run_case_world(sandbox, spec);
}

/// Whether every rank that was asked came through all cases of the task.
bool TaskRunner::is_complete(const CaseWorld& world, const std::string& task, int num_ranks) const {
  for (const Case& the_case : cases) {
    if (the_case.task != task) continue;
    for (int rank = 0; rank < num_ranks; ++rank) {
      if (!is_asked(the_case, rank)) continue;
      const CaseRecord* record = world.find(rank, task, the_case.name);
      if (record == nullptr || record->state == CaseRecord::State::kThrew) return false;
    }
  }
  return true;
}

TaskRun TaskRunner::judged(const CaseWorld& world, const std::string& task, int num_ranks) const {
  TaskRun run;
  for (const Case& the_case : cases) {
    if (the_case.task != task) continue;
    std::vector<std::optional<CaseRecord>> by_rank(static_cast<std::size_t>(num_ranks));
    for (int rank = 0; rank < num_ranks; ++rank) {
      if (const CaseRecord* record = world.find(rank, task, the_case.name))
        by_rank[static_cast<std::size_t>(rank)] = *record;
    }
    run.verdicts.push_back(judge_case(the_case, num_ranks, seed, by_rank));
  }
  if (!world.ok()) run.sentence = world.broken.empty() ? world.sentence : world.broken;
  run.deadlocked = world.result.end == SandboxResult::End::kExited &&
                   world.result.exit_code == static_cast<int>(ExitCode::kDeadlock);
  return run;
}

std::map<std::string, TaskRun> TaskRunner::run(int num_ranks, const std::vector<std::string>& tasks) const {
  std::map<std::string, TaskRun> runs;
  const auto run_alone = [&](const std::string& task) {
    runs[task] = judged(world(num_ranks, {task}), task, num_ranks);
  };
  std::vector<std::string> pending = tasks;
  while (!pending.empty()) {
    const CaseWorld common = world(num_ranks, pending);
    const auto stopped = std::find_if(pending.begin(), pending.end(),
                                      [&](const std::string& task) { return !is_complete(common, task, num_ranks); });
    for (auto task = pending.begin(); task != stopped; ++task) {
      runs[*task] = judged(common, *task, num_ranks);
      runs[*task].sentence.clear();  // it was through before the world failed
    }
    bool doubt = false;  // whether a task that came through may have done the damage
    if (stopped != pending.end()) {
      if (pending.size() == 1) {
        runs[*stopped] = judged(common, *stopped, num_ranks);
      } else {
        run_alone(*stopped);
        doubt = all_passed(runs[*stopped]) && runs[*stopped].sentence.empty();
      }
    } else if (!common.ok()) {
      if (pending.size() == 1) runs[pending[0]] = judged(common, pending[0], num_ranks);
      doubt = pending.size() > 1;
    }
    if (doubt) std::for_each(pending.begin(), stopped, run_alone);
    pending.erase(pending.begin(), stopped == pending.end() ? stopped : stopped + 1);
  }
  return runs;
}

}  // namespace lab::grading
