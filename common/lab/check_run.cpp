#include "common/lab/check_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/lab/named_cases.h"
#include "common/lab/record.h"
#include "common/lab/record_world.h"
#include "common/launch/unique_fd.h"

namespace lab {
namespace {

/// What the ranks of one world have left.
struct PerformedWorld {
  WorldOutcome outcome;
  std::vector<std::vector<CaseRecord>> by_rank;

  const CaseRecord* find(const Case& the_case, std::size_t rank) const {
    for (const CaseRecord& record : by_rank[rank]) {
      if (record.task == the_case.task && record.name == the_case.name) return &record;
    }
    return nullptr;
  }
};

PerformedWorld perform(const std::vector<Case>& cases, const CallTable& calls, const WorldSpec& spec,
                       std::uint64_t seed) {
  std::vector<UniqueFd> files;
  std::vector<int> descriptors;
  for (int rank = 0; rank < spec.num_ranks; ++rank) {
    files.emplace_back(make_record_file());
    descriptors.push_back(files.back().get());
  }
  PerformedWorld world;
  world.outcome = run_record_world(cases, calls, spec, seed, descriptors);
  for (const int descriptor : descriptors) world.by_rank.push_back(read_records(descriptor).records);
  return world;
}

/// True if every rank that was asked came through all cases, or reached a TODO.
bool came_through(const PerformedWorld& world, const std::vector<Case>& cases) {
  for (const Case& the_case : cases) {
    for (std::size_t rank = 0; rank < world.by_rank.size(); ++rank) {
      if (!is_asked(the_case, static_cast<int>(rank))) continue;
      const CaseRecord* record = world.find(the_case, rank);
      if (record == nullptr || record->state == CaseRecord::State::kThrew) return false;
    }
  }
  return true;
}

TaskCheck judged(const PerformedWorld& world, const std::vector<Case>& cases, std::uint64_t seed, bool blamed) {
  TaskCheck check;
  check.task = cases.front().task;
  for (const Case& the_case : cases) {
    std::vector<std::optional<CaseRecord>> by_rank(world.by_rank.size());
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      if (const CaseRecord* record = world.find(the_case, rank)) by_rank[rank] = *record;
    }
    check.cases.push_back(judge_case(the_case, static_cast<int>(by_rank.size()), seed, by_rank));
  }
  if (!blamed) return check;
  check.failure = world.outcome.failure;
  check.rank_lines = world.outcome.rank_lines;
  return check;
}

}  // namespace

bool TaskCheck::passed() const {
  if (failure || skipped()) return false;
  return std::all_of(cases.begin(), cases.end(),
                     [](const CaseVerdict& verdict) { return verdict.passed() || verdict.skipped(); });
}

bool TaskCheck::skipped() const {
  return std::all_of(cases.begin(), cases.end(), [](const CaseVerdict& verdict) { return verdict.skipped(); });
}

std::string TaskCheck::missing_task() const {
  for (const CaseVerdict& verdict : cases) {
    for (const RankVerdict& rank : verdict.ranks) {
      if (rank.state == RankVerdict::State::kNotImplemented) return rank.missing_task;
    }
  }
  return "";
}

int TaskCheck::exit_code() const {
  if (!missing_task().empty()) return static_cast<int>(ExitCode::kNotImplemented);
  if (failure) return failure->exit_code;
  return static_cast<int>(passed() || skipped() ? ExitCode::kAllMatch : ExitCode::kMismatch);
}

std::vector<TaskCheck> run_checks(const std::vector<Case>& cases, const CallTable& calls, const WorldSpec& world,
                                  std::uint64_t seed) {
  const std::vector<std::string> tasks = tasks_of(cases);
  const PerformedWorld common = perform(cases, calls, world, seed);
  const auto is_through = [&](const std::string& task) { return came_through(common, cases_of_task(cases, task)); };
  // If the world failed although all came through, any of them may have done it.
  const bool common_counts =
      !common.outcome.failure || tasks.size() == 1 || !std::all_of(tasks.begin(), tasks.end(), is_through);
  std::map<std::string, PerformedWorld> alone;
  for (const std::string& task : tasks) {
    if (tasks.size() > 1 && !(common_counts && is_through(task)))
      alone[task] = perform(cases_of_task(cases, task), calls, world, seed);
  }
  // Only now, after the last fork, may this process go backward.
  std::vector<TaskCheck> checks;
  for (const std::string& task : tasks) {
    const auto own = alone.find(task);
    const PerformedWorld& performed = own == alone.end() ? common : own->second;
    checks.push_back(judged(performed, cases_of_task(cases, task), seed, own != alone.end() || tasks.size() == 1));
  }
  return checks;
}

}  // namespace lab
