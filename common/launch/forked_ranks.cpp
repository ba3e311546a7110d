#include "common/launch/forked_ranks.h"

#include "common/comm/event_file.h"
#include "common/launch/cores.h"
#include "common/launch/memory_file.h"
#include "common/launch/one_rank.h"
#include "common/launch/outcome_files.h"
#include "common/launch/rank_output.h"
#include "common/launch/spawn.h"
#include "common/launch/supervisor.h"
#include "common/report/random_token.h"

namespace lab {
namespace {

/// What the ranks of a world share with the process that starts them.
struct SharedFiles {
  explicit SharedFiles(int num_ranks) {
    for (int rank = 0; rank < num_ranks; ++rank) results.emplace_back("results");
  }
  MemoryFile events{"events"};
  std::string meeting_socket = unnamed_socket();
  std::vector<MemoryFile> results;  ///< by rank
};

/// What a rank's process does from fork to _exit.
int rank_process(const WorldSpec& spec, const RankBody& body, const SharedFiles& files, int rank) {
  use_threads(threads_per_rank(spec.num_ranks));
  ProcessWorldOptions options;
  options.rank = rank;
  options.size = spec.num_ranks;
  options.timeout_seconds = spec.timeout_seconds;
  options.meeting.socket_path = files.meeting_socket;
  options.event_file = files.events.path();
  const RankOutcome outcome = run_process_rank(options, spec, body);
  save_outcomes(files.results[static_cast<std::size_t>(rank)].fd(), {outcome});
  return outcome.failure ? outcome.failure->exit_code : 0;
}

/// What the rank left, or what the launcher saw of its end.
RankOutcome outcome_of(const MemoryFile& results, const RankExit& end) {
  std::vector<RankOutcome> left = load_outcomes(results.fd());
  if (!left.empty()) return std::move(left[0]);
  RankOutcome lost;
  lost.report.rank = end.rank;
  // A body that ends the process by itself, say with exit(0), has not returned.
  lost.failure = RankFailure{end.exit_code == 0 ? static_cast<int>(ExitCode::kStudentCode) : end.exit_code, end.reason};
  lost.report.error = end.reason;
  return lost;
}

}  // namespace

WorldOutcome run_forked_ranks(const WorldSpec& spec, const RankBody& body) {
  const SharedFiles files(spec.num_ranks);
  const auto events = EventFile::create(files.events.path(), spec.num_ranks);
  SuperviseResult result;
  {
    RankOutput output({spec.log_dir, true, true});
    Supervisor supervisor;
    for (int rank = 0; rank < spec.num_ranks; ++rank) {
      const RankOutput::Fds fds = spec.log_dir.empty() ? RankOutput::Fds{} : output.open(rank);
      supervisor.add(
          {rank, fork_rank([&] { return rank_process(spec, body, files, rank); }, {false, fds.out, fds.err})});
    }
    output.start();
    result = supervisor.supervise(events.get());
    output.finish();
  }
  WorldOutcome outcome;
  for (const RankExit& end : result.exits)
    outcome.ranks.push_back(outcome_of(files.results[static_cast<std::size_t>(end.rank)], end));
  outcome.rank_lines = result.rank_lines;
  if (result.exit_code != 0 && result.first_failed_rank < 0) {
    outcome.failure = RankFailure{result.exit_code, result.sentence};
  } else if (result.first_failed_rank >= 0) {
    outcome.failure = failure_of_world(outcome.ranks, result.first_failed_rank);
  }
  return outcome;
}

}  // namespace lab
