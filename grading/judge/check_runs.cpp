#include "grading/judge/check_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <numeric>

#include "common/api/errors.h"
#include "common/base/own_core.h"
#include "common/base/text.h"
#include "common/comm/relay/relay_world.h"
#include "common/launch/supervise/orphans.h"
#include "common/tensor/compute_threads.h"
#include "grading/judge/case_package.h"

namespace lab::grading {
namespace {

constexpr double kMostSeconds = 300;
constexpr double kMostDelaySeconds = 0.0005;  // of a shaken run
constexpr std::chrono::seconds kSecondsToClose{5};
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

/// " at student/ring.cpp:41: a null pointer is followed", as the rank's handler wrote on stderr (FollowedThread); empty:
/// nothing. Student code can write the same, in which case it misleads its own author.
std::string make_crash_line(const SandboxResult& result, int rank) {
  const std::string start = fmt::format("error: rank {}", rank);
  for (const std::string_view line : split(result.err, '\n')) {
    const std::string_view rest = line.substr(std::min(line.size(), start.size()));
    if (line.substr(0, start.size()) == start && (rest.substr(0, 4) == " at " || rest.substr(0, 2) == ": "))
      return std::string(rest.substr(0, 600));
  }
  return "";
}

/// Why the world ended early, by what the relay and the sandbox saw; none: it did not.
std::optional<launch::RankFailure> describe_failure(const comm::RelayWorld& relay,
                                                    const std::vector<SandboxResult>& results) {
  using End = SandboxResult::End;
  const std::optional<comm::RelayFailure> seen = relay.failure();
  if (!seen) return std::nullopt;
  if (seen->rank < 0) return launch::RankFailure{static_cast<int>(seen->exit_code), seen->message};
  int rank = seen->rank;
  // All were stopped because of one of them, and the relay noticed another one first.
  if (results[static_cast<std::size_t>(rank)].end == End::kStoppedWithOthers) {
    const auto cause = std::find_if(results.begin(), results.end(), [](const SandboxResult& one) {
      return one.end == End::kPrintedTooMuch || one.end == End::kTooManyThreads || one.end == End::kOutOfMemory;
    });
    if (cause != results.end()) rank = static_cast<int>(cause - results.begin());
  }
  // All wait for the one that computes.
  if (results[static_cast<std::size_t>(rank)].end == End::kStalled) {
    for (int other = 0; other < static_cast<int>(results.size()); ++other) {
      if (!make_crash_line(results[static_cast<std::size_t>(other)], other).empty()) rank = other;
    }
  }
  const SandboxResult& result = results[static_cast<std::size_t>(rank)];
  // It ended by itself, for a reason that it had told the relay.
  if (result.end == End::kExited && result.exit_code == static_cast<int>(seen->exit_code))
    return launch::RankFailure{result.exit_code, fmt::format("rank {}: {}", rank, seen->message)};
  const std::string printed = printed_by(result), line = make_crash_line(result, rank);
  const std::string what = fmt::format("rank {} {}", rank, result.ending());
  if (!line.empty())
    return launch::RankFailure{result.exit_code, what + line, result.end == End::kStalled ? -1 : rank, ""};
  return launch::RankFailure{result.exit_code,
                             what + (printed.empty() ? "" : fmt::format("; it printed: {}", printed))};
}

/// The ranks that had come as far as they could when the world was found stuck: what the others had done by then depends
/// on the machine. A rank that has computed for so long without a new result may be the one that the others wait for.
std::vector<int> stuck_ranks(const comm::RelayWorld& relay, const std::vector<SandboxResult>& results) {
  const std::optional<comm::RelayFailure> seen = relay.failure();
  if (seen && seen->rank < 0) return seen->stuck_ranks;
  const bool stalled = std::any_of(results.begin(), results.end(), [](const SandboxResult& result) {
    return result.end == SandboxResult::End::kStalled;
  });
  std::vector<int> all(stalled ? results.size() : 0);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

CaseWorld run_case_world(RankServer& server, const CaseWorldSpec& spec) {
  comm::RelayOptions options;
  options.timeout_seconds = kStallsBeforeTimeout * spec.stall_seconds;
  options.shake_seed = spec.shake_seed;
  options.max_delay_seconds = kMostDelaySeconds;
  options.max_message_bytes = options.max_posted_bytes = kMostMessageBytes;
  comm::RelayWorld relay(spec.num_ranks, options);
  CasePackage handout(spec.cases, spec.num_ranks, spec.seed);
  CaseWorld world;
  // Where all that wait for each other take turns on one core, no wake-up crosses cores: a quarter less CPU time, and
  // hardly longer, as a world seldom has work for two.
  const std::optional<cpu_set_t> core = current_core();
  std::future<void> served;  // waits for its thread, which ends when no rank is left
  std::vector<StartedJob> ranks;
  for (int rank = 0; rank < spec.num_ranks; ++rank)
    ranks.push_back(server.start(rank, spec.num_ranks, spec.shake_seed.has_value(), relay.rank_end(rank), core));
  const CoreScope scope(core);  // not before: the server, which they may have started, makes ranks of later worlds, too
  launch::Orphans orphans;  // what a rank that is killed leaves behind
  served = std::async(std::launch::async, [&] {
    use_threads(1);  // of this thread, which draws inputs and computes collectives
    relay.serve(&handout);
  });
  SandboxLimits limits = RankServer::limits();
  limits.run_seconds = kMostSeconds;
  limits.stall_seconds = spec.stall_seconds;
  world.results = server.sandbox().supervise(ranks, limits, [&handout] { return handout.num_done(); });
  ranks.clear();
  orphans.kill_all();
  // A server that says that its rank has ended may lie.
  if (served.wait_for(kSecondsToClose) != std::future_status::ready) server.end();
  served.get();
  world.num_started = handout.num_started();
  world.by_rank = handout.take_records();
  world.traces = handout.take_traces([&relay](int rank) { return relay.read_trace(rank); });
  world.stuck_ranks = stuck_ranks(relay, world.results);
  world.failure = describe_failure(relay, world.results);
  const bool rank_timed_out = world.failure && world.failure->exit_code == static_cast<int>(ExitCode::kCommunication) &&
                              world.results.front().last_progress >= options.timeout_seconds;
  world.is_machines_fault =
      rank_timed_out || std::any_of(world.results.begin(), world.results.end(),
                                    [](const SandboxResult& result) { return result.is_machines_fault(); });
  return world;
}

std::vector<CaseVerdict> CheckRunner::run(int num_ranks, const std::vector<Case>& cases, bool shaken) const {
  CaseWorldSpec spec;
  spec.num_ranks = num_ranks;
  spec.seed = seed;
  spec.stall_seconds = stall_seconds;
  if (shaken) spec.shake_seed = (seed + static_cast<std::uint64_t>(num_ranks)) & 0xFFFFFFFF;
  const auto perform = [&](const std::vector<Case>& some) {
    spec.cases = some;
    if (server->sandbox().is_spent()) throw BudgetSpent();
    CaseWorld world = run_case_world(*server, spec);
    if (world.is_machines_fault) world = run_case_world(*server, spec);
    if (world.is_machines_fault)
      throw NotJudged(fmt::format("twice, on {}: {}", counted(num_ranks, "rank"),
                                  world.failure ? world.failure->message : "the machine kept it waiting"));
    return RecordedWorld(std::move(world));
  };
  // A rank that computes something alone is sent the whole of what others share in theirs: so never in one process.
  std::vector<CaseVerdict> checked(cases.size());
  for (const bool alone : {true, false}) {
    std::vector<std::size_t> places;
    std::vector<Case> some;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (cases[i].only_rank_zero != alone) continue;
      places.push_back(i);
      some.push_back(cases[i]);
    }
    std::vector<CaseVerdict> found = check_apart(some, num_ranks, seed, perform);
    for (std::size_t i = 0; i < places.size(); ++i) checked[places[i]] = std::move(found[i]);
  }
  return checked;
}

}  // namespace lab::grading
