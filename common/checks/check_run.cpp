#include "common/checks/check_run.h"

#include <algorithm>
#include <utility>

#include "common/base/files.h"
#include "common/checks/named_cases.h"
#include "common/checks/record.h"
#include "common/checks/record_world.h"
#include "common/checks/recorded_world.h"

namespace lab {
namespace {

struct PerformedWorld : RecordedWorld {
  WorldOutcome outcome;

  bool ok() const { return !outcome.failure; }
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
  for (const int descriptor : descriptors) {
    RecordsRead read = read_records(descriptor);
    world.intact = world.intact && read.broken.empty();
    world.by_rank.push_back(std::move(read.records));
  }
  return world;
}

CheckedCase judged(const DecidingWorld<PerformedWorld>& deciding, const Case& test_case, std::uint64_t seed) {
  CheckedCase checked;
  static_cast<CaseVerdict&>(checked) = deciding.world->judged(test_case, seed);
  if (!deciding.to_blame) return checked;
  checked.failure = deciding.world->outcome.failure;
  checked.rank_lines = deciding.world->outcome.rank_lines;
  return checked;
}

}  // namespace

bool TaskCheck::passed() const {
  return !skipped() && std::all_of(cases.begin(), cases.end(),
                                   [](const CheckedCase& checked) { return checked.right() || checked.skipped(); });
}

bool TaskCheck::skipped() const {
  return std::all_of(cases.begin(), cases.end(), [](const CheckedCase& checked) { return checked.skipped(); });
}

std::string TaskCheck::missing_task() const {
  for (const CheckedCase& checked : cases) {
    for (const RankVerdict& rank : checked.ranks) {
      if (rank.state == RankVerdict::State::kNotImplemented) return rank.missing_task;
    }
  }
  return "";
}

int TaskCheck::exit_code() const {
  if (!missing_task().empty()) return static_cast<int>(ExitCode::kNotImplemented);
  for (const CheckedCase& checked : cases) {
    if (checked.failure) return checked.failure->exit_code;
  }
  return static_cast<int>(passed() || skipped() ? ExitCode::kAllMatch : ExitCode::kMismatch);
}

std::vector<TaskCheck> run_checks(const std::vector<Case>& cases, const CallTable& calls, const WorldSpec& world,
                                  std::uint64_t seed) {
  const auto deciding = perform_apart<PerformedWorld>(
      cases, [&](const std::vector<Case>& some) { return perform(some, calls, world, seed); });
  // Only now, after the last fork, may this process run backward().
  std::vector<TaskCheck> checks;
  for (const std::string& task : tasks_of(cases)) checks.push_back({task, {}});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto check =
        std::find_if(checks.begin(), checks.end(), [&](const TaskCheck& one) { return one.task == cases[i].task; });
    check->cases.push_back(judged(deciding[i], cases[i], seed));
  }
  return checks;
}

}  // namespace lab
