#include "grading/judge/check_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "common/base/errors.h"
#include "common/base/text.h"
#include "common/comm/relay/relay_world.h"
#include "common/launch/one_rank.h"
#include "common/launch/supervise/run_directory.h"
#include "grading/judge/case_handout.h"

namespace lab::grading {
namespace {

constexpr double kMostSeconds = 300;
constexpr double kMostDelaySeconds = 0.0005;  // of a shaken run
constexpr std::uint64_t kMostMessageBytes = 256u << 20;
// A rank's own time-out is by the clock. A job that was able to run is found stuck long before.
constexpr double kStallsBeforeTimeout = 12;

/// What a rank's program printed first on stderr; its first line that says `error:`, if there is one.
std::string printed_by(const SandboxResult& result) {
  std::string first;
  for (const std::string_view whole_line : split(result.err, '\n')) {
    const std::string line = one_line(whole_line);
    const std::size_t error = line.find("error: ");
    if (error != std::string::npos) return line.substr(error + 7, 600);
    if (first.empty()) first = line.substr(0, 600);
  }
  return first;
}

/// Why the world ended early, by what the relay and the sandbox saw; none: it did not.
std::optional<launch::RankFailure> failure_of(const comm::RelayWorld& relay,
                                              const std::vector<SandboxResult>& results) {
  using End = SandboxResult::End;
  const std::optional<comm::RelayFailure> seen = relay.failure();
  if (!seen) return std::nullopt;
  if (seen->rank < 0) return launch::RankFailure{static_cast<int>(seen->exit_code), seen->message};
  const SandboxResult& result = results[static_cast<std::size_t>(seen->rank)];
  // It ended by itself, for a reason that it had told the relay.
  if (result.end == End::kExited && result.exit_code == static_cast<int>(seen->exit_code))
    return launch::RankFailure{result.exit_code, fmt::format("rank {}: {}", seen->rank, seen->message)};
  const std::string printed = printed_by(result);
  return launch::RankFailure{result.exit_code,
                             fmt::format("rank {} {}{}", seen->rank, result.ending(),
                                         printed.empty() ? "" : fmt::format("; it printed: {}", printed))};
}

/// A thread that is waited for however its owner ends.
struct JoinedThread {
  std::thread thread;
  ~JoinedThread() {
    if (thread.joinable()) thread.join();
  }
};

}  // namespace

CaseWorld run_case_world(const Sandbox& sandbox, const CaseWorldSpec& spec) {
  comm::RelayOptions options;
  options.timeout_seconds = kStallsBeforeTimeout * spec.stall_seconds;
  options.shake_seed = spec.shake_seed;
  options.max_delay_seconds = kMostDelaySeconds;
  options.max_message_bytes = options.max_posted_bytes = kMostMessageBytes;
  comm::RelayWorld relay(spec.num_ranks, options);
  CaseHandout handout(spec.cases, spec.num_ranks, spec.seed);
  std::vector<launch::RunDirectory> folders(static_cast<std::size_t>(spec.num_ranks));
  std::vector<SandboxJob> jobs;
  for (int rank = 0; rank < spec.num_ranks; ++rank) {
    SandboxJob job;
    job.argv = {spec.program, std::to_string(rank), std::to_string(spec.num_ranks),
                std::to_string(relay.rank_end(rank))};
    if (spec.shake_seed) job.argv.emplace_back("shaken");
    job.inherited = {relay.rank_end(rank)};
    job.folder = folders[static_cast<std::size_t>(rank)].path();
    job.readable = spec.readable;
    job.readable.push_back(spec.program);
    job.limits.run_seconds = kMostSeconds;
    job.limits.stall_seconds = spec.stall_seconds;
    job.progress = [&handout] { return handout.num_done(); };
    jobs.push_back(std::move(job));
  }

  CaseWorld world;
  JoinedThread serving;
  world.results = sandbox.run_together(jobs, [&] {
    serving.thread = std::thread([&] {
      launch::use_threads(1);  // of this thread, which draws inputs and computes collectives
      relay.serve(&handout);
    });
  });
  serving.thread.join();
  world.by_rank = handout.take_records();
  world.failure = failure_of(relay, world.results);
  const bool rank_timed_out = world.failure && world.failure->exit_code == static_cast<int>(ExitCode::kCommunication) &&
                              world.results.front().last_progress >= options.timeout_seconds;
  world.is_machines_fault =
      rank_timed_out || std::any_of(world.results.begin(), world.results.end(),
                                    [](const SandboxResult& result) { return result.is_machines_fault(); });
  return world;
}

std::vector<CheckedCase> CheckRunner::run(int num_ranks, const std::vector<Case>& cases, bool shaken) const {
  CaseWorldSpec spec;
  spec.program = program;
  spec.num_ranks = num_ranks;
  spec.seed = seed;
  spec.stall_seconds = stall_seconds;
  if (shaken) spec.shake_seed = (seed + static_cast<std::uint64_t>(num_ranks)) & 0xFFFFFFFF;
  return check_apart(cases, seed, [&](const std::vector<Case>& some) {
    spec.cases = some;
    CaseWorld world = run_case_world(sandbox, spec);
    if (world.is_machines_fault) world = run_case_world(sandbox, spec);
    if (world.is_machines_fault)
      throw NotJudged(fmt::format("twice, on {}: {}", counted(num_ranks, "rank"),
                                  world.failure ? world.failure->message : "the machine kept it waiting"));
    return RecordedWorld(std::move(world));
  });
}

}  // namespace lab::grading
