#include "common/launch/run_ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <system_error>
#include <thread>

#include "common/base/failure.h"
#include "common/base/files.h"
#include "common/base/random_token.h"
#include "common/base/stack/student_place.h"
#include "common/base/subprocess.h"
#include "common/comm/messages/message_collectives.h"
#include "common/comm/relay/relay_world.h"
#include "common/comm/thread_world.h"
#include "common/comm/watch/event_file.h"
#include "common/launch/one_rank.h"
#include "common/launch/outcome_files.h"
#include "common/launch/simulated_ranks.h"
#include "common/launch/supervise/cores.h"
#include "common/launch/supervise/memory_file.h"
#include "common/launch/supervise/rank_output.h"
#include "common/launch/supervise/supervisor.h"
#include "common/tensor/compute_threads.h"

namespace lab::launch {
namespace {

/// Why the world failed: the message of the rank that caused it, with the rank's number if no other rank reports it.
RankFailure failure_of_world(const std::vector<RankOutcome>& ranks, int cause) {
  RankFailure failure = *ranks[static_cast<std::size_t>(cause)].failure;
  int num_alike = 0;
  for (const RankOutcome& rank : ranks) num_alike += rank.failure && rank.failure->message == failure.message ? 1 : 0;
  // A message that several ranks share is about the world; one from a single rank needs its number, as do exceptions. A
  // TODO needs none: all ranks have it, also those that were ended before they reached it.
  const auto is = [&](ExitCode code) { return failure.exit_code == static_cast<int>(code); };
  const bool thrown = is(ExitCode::kStudentCode) || failure.crashed_rank >= 0;
  if (thrown || (num_alike == 1 && ranks.size() > 1 && !is(ExitCode::kNotImplemented)))
    failure.message = fmt::format("rank {}: {}", cause, failure.message);
  return failure;
}

/// Shared by the ranks of a world and the process that starts them.
struct SharedFiles {
  explicit SharedFiles(int num_ranks) {
    for (int rank = 0; rank < num_ranks; ++rank) results.emplace_back("results");
  }
  MemoryFile events{"events"};
  std::string rendezvous_socket = unnamed_socket();
  std::vector<MemoryFile> results;  ///< by rank
};

/// A rank process's code from fork to _exit.
int rank_process(const WorldSpec& spec, const RankBody& body, const SharedFiles& files, int rank) {
  use_threads(threads_per_rank(spec.num_ranks));
  comm::ProcessWorldOptions options;
  options.rank = rank;
  options.size = spec.num_ranks;
  options.timeout_seconds = spec.timeout_seconds;
  options.rendezvous.socket_path = files.rendezvous_socket;
  options.event_file = files.events.path();
  const int fd = files.results[static_cast<std::size_t>(rank)].fd();
  const RankOutcome outcome = run_process_rank(options, spec, [&](Communicator& comm, RankOutcome& own) {
    own.kept_in = fd;
    body(comm, own);
  });
  save_outcome(fd, outcome);
  return outcome.failure ? outcome.failure->exit_code : 0;
}

/// What the rank saved, or how the launcher saw it end.
RankOutcome make_outcome(const MemoryFile& results, const RankExit& end) {
  LeftInFile file = load_outcomes(results.fd());
  LeftByRank& left = file.ranks[end.rank];
  // A body that ends the process by itself has not returned: exit(0) does not mean success there, nor exit(3) a TODO.
  const bool means_other = end.exit_code == 0 || end.exit_code == static_cast<int>(ExitCode::kNotImplemented);
  const bool is_broken = end.exit_code == 0 && !file.broken.empty();
  RankOutcome outcome =
      left.outcome ? std::move(*left.outcome)
                   : lost_outcome(end.rank, {means_other ? static_cast<int>(ExitCode::kStudentCode) : end.exit_code,
                                             is_broken ? "what it has left cannot be read: " + file.broken : end.reason,
                                             end.crashed ? end.rank : -1, end.task});
  outcome.kept = std::move(left.kept);
  outcome.broken = std::move(file.broken);
  return outcome;
}

WorldOutcome outcome_of_processes(const SuperviseResult& result, const std::vector<MemoryFile>& results) {
  WorldOutcome outcome;
  for (const RankExit& end : result.exits)
    outcome.ranks.push_back(make_outcome(results[static_cast<std::size_t>(end.rank)], end));
  outcome.rank_lines = result.rank_lines;
  if (result.exit_code != 0 && result.first_failed_rank < 0) {
    outcome.failure = RankFailure{result.exit_code, result.message};
  } else if (result.first_failed_rank >= 0) {
    outcome.failure = failure_of_world(outcome.ranks, result.first_failed_rank);
  }
  return outcome;
}

/// run_ranks() for the world `processes`: forks the ranks from this process, so that LibTorch is loaded once, lets them
/// rendezvous at an abstract socket, watches them, and collects their results from in-memory files.
WorldOutcome run_forked_ranks(const WorldSpec& spec, const RankBody& body) {
  const SharedFiles files(spec.num_ranks);
  const auto events = comm::EventFile::create(files.events.path(), spec.num_ranks);
  SuperviseResult result;
  {
    RankOutput output({spec.log_dir, true, true});
    Supervisor supervisor;
    for (int rank = 0; rank < spec.num_ranks; ++rank) {
      const RankOutput::Fds fds = spec.log_dir.empty() ? RankOutput::Fds{} : output.open(rank);
      supervisor.add(
          {rank, fork_process([&] { return rank_process(spec, body, files, rank); }, {false, fds.out, fds.err})});
    }
    output.start();
    result = supervisor.supervise(events.get());
    output.finish();
  }
  return outcome_of_processes(result, files.results);
}

/// The rank that caused the failure, in preference to one that only reports another's. -1: none failed.
int find_cause(const std::vector<RankOutcome>& ranks) {
  int cause = -1;
  const auto blames_another = [&](std::size_t rank) {
    const RankFailure& failure = *ranks[rank].failure;
    return failure.exit_code == static_cast<int>(ExitCode::kCommunication) && failure.message.rfind("rank ", 0) == 0;
  };
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank].failure) continue;
    if (cause < 0 || (blames_another(static_cast<std::size_t>(cause)) && !blames_another(rank)))
      cause = static_cast<int>(rank);
  }
  return cause;
}

/// Which ranks' threads have returned.
class Returns {
 public:
  explicit Returns(int num_ranks) : returned_(static_cast<std::size_t>(num_ranks)) {}

  void note(int rank, bool failed) {
    const std::lock_guard<std::mutex> lock(mutex_);
    returned_[static_cast<std::size_t>(rank)] = true;
    if (failed && !failed_since_) failed_since_ = Clock::now();
    changed_.notify_all();
  }

  /// Returns once all have returned; otherwise, after a failure and `patience` seconds, returns the ranks that have
  /// not: when a rank fails, all other waits end at once, so a rank still running by then will not return.
  std::vector<int> await_all(double patience) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      std::vector<int> missing;
      for (std::size_t rank = 0; rank < returned_.size(); ++rank) {
        if (!returned_[rank]) missing.push_back(static_cast<int>(rank));
      }
      if (missing.empty()) return {};
      if (failed_since_ && Clock::now() - *failed_since_ > std::chrono::duration<double>(patience)) return missing;
      changed_.wait_for(lock, std::chrono::milliseconds(100));
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> returned_;
  std::optional<Clock::time_point> failed_since_;
};

constexpr double kMinStallSeconds = 5;

std::string reason_for(const std::vector<RankOutcome>& ranks, const std::vector<int>& missing,
                       std::vector<StudentPlace>& places) {
  std::string reason;
  for (std::size_t rank = 0; rank < ranks.size() && reason.empty(); ++rank) {
    if (std::find(missing.begin(), missing.end(), static_cast<int>(rank)) != missing.end()) continue;
    if (ranks[rank].failure) reason = fmt::format("rank {}: {}", rank, ranks[rank].failure->message);
  }
  std::vector<std::string> late;
  for (const int rank : missing) {
    const std::string where = places[static_cast<std::size_t>(rank)].where();
    late.push_back(fmt::format("{}{}", rank, where.empty() ? "" : " (at " + where + ")"));
  }
  return fmt::format("{}; {} {} did not return afterwards, and ranks that are threads cannot be stopped individually",
                     reason, missing.size() == 1 ? "rank" : "ranks", fmt::join(late, ", "));
}

/// A thread cannot be stopped from outside, so the process exits.
[[noreturn]] void end_process(const std::string& reason, ExitCode exit_code) {
  std::cout.flush();
  std::fflush(nullptr);
  write_fully(2, fmt::format("error: {}: the program exits\n", reason));
  ::_exit(static_cast<int>(exit_code));
}

WorldOutcome run_threads(const WorldSpec& spec, const RankBody& body) {
  WorldOutcome outcome;
  outcome.ranks.resize(static_cast<std::size_t>(spec.num_ranks));
  Returns returns(spec.num_ranks);
  comm::ThreadWorld world(spec.num_ranks, spec.timeout_seconds);
  std::vector<StudentPlace> places(outcome.ranks.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < spec.num_ranks; ++rank) {
    const auto on_rank = [&, rank] {
      const FollowedThread followed(&places[static_cast<std::size_t>(rank)], rank);
      const std::shared_ptr<comm::Transport> transport = world.transport(rank);
      run_one_rank(transport, std::make_shared<comm::MessageCollectives>(*transport), spec, body,
                   outcome.ranks[static_cast<std::size_t>(rank)]);
      world.finished(rank);
      returns.note(rank, outcome.ranks[static_cast<std::size_t>(rank)].failure.has_value());
    };
    try {
      threads.emplace_back(on_rank);
    } catch (const std::system_error& failure) {
      end_process(
          fmt::format("rank {}: {}; ranks that are threads cannot be stopped individually", rank, get_message(failure)),
          ExitCode::kUsage);
    }
  }
  const std::vector<int> missing = returns.await_all(stall_seconds(spec.timeout_seconds, kMinStallSeconds));
  if (!missing.empty()) end_process(reason_for(outcome.ranks, missing, places), ExitCode::kCommunication);
  for (std::thread& thread : threads) thread.join();
  return outcome;
}

/// Ranks are forked processes; the relay runs in a thread of this one, which starts after the last fork.
WorldOutcome run_relayed_ranks(const WorldSpec& spec, const RankBody& body) {
  comm::RelayOptions options;
  options.timeout_seconds = spec.timeout_seconds;
  options.shake_seed = spec.shake_seed;
  options.model_rates = spec.model_rates;
  comm::RelayWorld world(spec.num_ranks, options);
  std::vector<MemoryFile> results;
  for (int rank = 0; rank < spec.num_ranks; ++rank) results.emplace_back("results");
  SuperviseResult result;
  {
    Supervisor supervisor;
    for (int rank = 0; rank < spec.num_ranks; ++rank) {
      const auto run = [&] {
        use_threads(threads_per_rank(spec.num_ranks));
        const FollowedThread followed(nullptr, rank);
        const comm::RelayEnd end = world.join(rank);
        RankOutcome outcome;
        outcome.kept_in = results[static_cast<std::size_t>(rank)].fd();
        run_one_rank(end.transport, end.collectives, spec, body, outcome);
        save_outcome(outcome.kept_in, outcome);
        return outcome.failure ? outcome.failure->exit_code : 0;
      };
      supervisor.add({rank, fork_process(run, {})});
    }
    std::thread relay([&] {
      use_threads(1);  // of this thread, which adds what ranks all_reduce
      world.serve();
    });
    result = supervisor.supervise();
    relay.join();
  }
  return outcome_of_processes(result, results);
}

WorldOutcome run_world(const WorldSpec& spec, const RankBody& body) {
  switch (spec.kind) {
    case WorldKind::kProcesses: return run_forked_ranks(spec, body);
    case WorldKind::kThreads: return run_threads(spec, body);
    case WorldKind::kSim: return run_simulated_ranks(spec, body);
    case WorldKind::kRelay: return run_relayed_ranks(spec, body);
  }
  throw UsageError("an unknown kind of world");
}

}  // namespace

void RankOutcome::keep(std::string bytes) {
  if (kept_in < 0) {
    kept.push_back(std::move(bytes));
  } else {
    keep_in_file(kept_in, report.rank, bytes);
  }
}

int WorldOutcome::exit_code() const {
  if (failure) return failure->exit_code;
  for (const RankOutcome& rank : ranks) {
    if (rank.exit_code != ExitCode::kAllMatch) return static_cast<int>(rank.exit_code);
  }
  return static_cast<int>(ExitCode::kAllMatch);
}

WorldOutcome run_ranks(const WorldSpec& spec, const RankBody& body) {
  if (spec.num_ranks < 1) throw UsageError(fmt::format("expected at least one rank, got {}", spec.num_ranks));
  install_meters();
  WorldOutcome outcome = run_world(spec, body);
  if (!outcome.failure) {
    const int cause = find_cause(outcome.ranks);
    if (cause >= 0) outcome.failure = failure_of_world(outcome.ranks, cause);
  }
  return outcome;
}

WorldOutcome run_ranks(const WorldSpec& spec, const std::function<TensorMap(Communicator&)>& body) {
  return run_ranks(spec, RankBody([&](Communicator& comm, RankOutcome& outcome) { outcome.tensors = body(comm); }));
}

}  // namespace lab::launch
