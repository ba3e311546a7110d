#include "common/launch/simulated_ranks.h"

#include <fmt/format.h>

#include "common/base/stack/student_place.h"
#include "common/base/subprocess.h"
#include "common/base/take_turns.h"
#include "common/comm/messages/message_collectives.h"
#include "common/comm/sim_world.h"
#include "common/launch/one_rank.h"
#include "common/launch/outcome_files.h"
#include "common/launch/supervise/memory_file.h"
#include "common/launch/supervise/supervisor.h"

namespace lab::launch {
namespace {

void refuse_meta_tensors(RankOutcome& outcome) {
  for (const auto& [name, tensor] : outcome.tensors) {
    if (!tensor.is_meta() || outcome.failure) continue;
    outcome.report.error = fmt::format("the body returned {}, a meta tensor, which has no data to hand back", name);
    outcome.failure = RankFailure{static_cast<int>(ExitCode::kContract), outcome.report.error};
  }
  if (outcome.failure) outcome.tensors.clear();
}

/// The simulation process's code from fork to _exit.
int simulate(const WorldSpec& spec, const RankBody& body, const MemoryFile& results) {
  take_turns();
  const FollowedThread followed(nullptr, -1);
  std::vector<RankOutcome> outcomes(static_cast<std::size_t>(spec.num_ranks));
  comm::SimWorld world(spec.network, spec.num_ranks, spec.timeout_seconds);
  world.run([&](int rank) {
    const std::shared_ptr<comm::Transport> transport = world.transport(rank);
    run_one_rank(transport, std::make_shared<comm::MessageCollectives>(*transport), spec, body,
                 outcomes[static_cast<std::size_t>(rank)]);
  });
  for (RankOutcome& outcome : outcomes) refuse_meta_tensors(outcome);
  for (const RankOutcome& outcome : outcomes) save_outcome(results.fd(), outcome);
  return 0;
}

}  // namespace

WorldOutcome run_simulated_ranks(const WorldSpec& spec, const RankBody& body) {
  comm::check_network(spec.network);
  if (!comm::SimWorld::available()) comm::SimWorld(spec.network, spec.num_ranks, spec.timeout_seconds);  // says why
  const MemoryFile results("results");
  SuperviseResult result;
  {
    Supervisor supervisor;
    supervisor.add({0, fork_process([&] { return simulate(spec, body, results); })});
    result = supervisor.supervise();
  }
  WorldOutcome outcome;
  for (auto& [rank, left] : load_outcomes(results.fd()).ranks) {
    if (!left.outcome) continue;
    outcome.ranks.push_back(std::move(*left.outcome));
    outcome.ranks.back().kept = std::move(left.kept);
  }
  if (static_cast<int>(outcome.ranks.size()) == spec.num_ranks && result.exit_code == 0) return outcome;

  const RankExit& end = result.exits.at(0);
  // A body that ends the process by itself, e.g. with exit(0), has not returned.
  const int exit_code = result.exit_code == 0 ? static_cast<int>(ExitCode::kStudentCode) : result.exit_code;
  outcome.failure = RankFailure{exit_code, fmt::format("the process that simulates all ranks {}", end.reason)};
  outcome.ranks.clear();
  for (int rank = 0; rank < spec.num_ranks; ++rank) outcome.ranks.push_back(lost_outcome(rank, *outcome.failure));
  return outcome;
}

}  // namespace lab::launch
