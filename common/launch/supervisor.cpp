#include "common/launch/supervisor.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/launch/launcher_signals.h"
#include "common/launch/orphans.h"

namespace lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{10};  // how often the ranks are looked at; an exit is noticed at once

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

std::string describe_status(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("exited with code {}", WEXITSTATUS(status));
  return fmt::format("killed by signal {} ({})", WTERMSIG(status), signal_name(WTERMSIG(status)));
}

struct Supervisor::State {
  // How strongly an end asks to be blamed for the whole run's.
  enum class Blame { kNone, kReturnedWithCode, kPeerFailed, kOwnFault };

  struct Rank {
    Child child;
    bool alive = true;
    Blame blame = Blame::kNone;
    RankExit exit;
  };

  // From kRunning the run is brought to its end in steps, each with a deadline after which the next one is taken.
  enum class Phase { kRunning, kGrace, kTerminated, kKilled };

  explicit State(const SupervisorOptions& given) : options(given) {}

  bool anyone_alive() const {
    return std::any_of(ranks.begin(), ranks.end(), [](const Rank& rank) { return rank.alive; });
  }

  void signal_living(int signal) const {
    for (const Rank& rank : ranks) {
      if (rank.alive) ::kill(rank.child.leads_group ? -rank.child.pid : rank.child.pid, signal);
    }
  }

  void enter(Phase next, double seconds) {
    phase = next;
    deadline = after(seconds);
  }

  void kill_now() {
    signal_living(SIGKILL);
    enter(Phase::kKilled, options.kill_seconds);
  }

  void take_next_step_when_due() {
    if (phase == Phase::kRunning || Clock::now() < deadline) return;
    if (phase == Phase::kGrace) {
      signal_living(SIGTERM);
      enter(Phase::kTerminated, options.kill_seconds);
    } else {
      kill_now();
    }
  }

  void obey_signals() {
    while (const std::optional<int> signal = signals.next()) {
      if (*signal == SIGINT && !options.obey_interrupt) continue;
      if (interrupted_by != 0) {  // the user is in a hurry
        kill_now();
        continue;
      }
      interrupted_by = *signal;
      signal_living(*signal);
      enter(Phase::kTerminated, options.grace_seconds);
    }
  }

  void reap(EventFile* events) {
    for (Rank& rank : ranks) {
      int status = 0;
      if (!rank.alive) continue;
      const pid_t ended = ::waitpid(rank.child.pid, &status, WNOHANG);
      if (ended == rank.child.pid) {
        note_end(rank, status, events);
      } else if (ended < 0 && errno != EINTR) {  // somebody else reaped it: its status is lost
        note_end(rank, 0, events);
      }
    }
  }

  void note_end(Rank& rank, int status, EventFile* events) {
    const bool killed = WIFSIGNALED(status);
    rank.alive = false;
    rank.exit.exit_code = killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    rank.exit.stopped = phase >= Phase::kTerminated && rank.exit.exit_code != 0;
    rank.exit.reason = rank.exit.stopped && killed ? "stopped by the launcher" : describe_status(status);
    if (rank.exit.exit_code == 0) {
      if (events != nullptr) events->set_returned(rank.exit.rank);
      return;
    }
    const bool returned =
        !killed && events != nullptr && events->read(rank.exit.rank, nullptr).activity == RankActivity::kFinished;
    if (events != nullptr) events->set_exit_reason(rank.exit.rank, rank.exit.reason);
    if (rank.exit.stopped) return;
    rank.blame = returned                                                            ? Blame::kReturnedWithCode
                 : rank.exit.exit_code == static_cast<int>(ExitCode::kCommunication) ? Blame::kPeerFailed
                                                                                     : Blame::kOwnFault;
    if (blamed == nullptr || rank.blame > blamed->blame) blamed = &rank;
    if (!returned && phase == Phase::kRunning) enter(Phase::kGrace, options.grace_seconds);
  }

  void look_for_proof(EventFile* events) {
    if (events == nullptr || phase != Phase::kRunning) return;
    diagnosis = diagnose(*events);
    if (!diagnosis) return;
    events->set_verdict({diagnosis->exit_code, diagnosis->sentence});
    enter(Phase::kGrace, options.grace_seconds);
  }

  void look_at_the_clock(EventFile* events) {
    if (options.timeout_seconds <= 0 || phase != Phase::kRunning || Clock::now() < end_of_time) return;
    timed_out = true;
    for (const Rank& rank : ranks) {
      if (events != nullptr) {
        rank_lines.push_back(
            fmt::format("rank {} {}", rank.exit.rank, describe_rank(events->read(rank.exit.rank, nullptr))));
      }
    }
    signal_living(SIGTERM);
    enter(Phase::kTerminated, options.kill_seconds);
  }

  SuperviseResult result() const {
    SuperviseResult result;
    for (const Rank& rank : ranks) result.exits.push_back(rank.exit);
    std::sort(result.exits.begin(), result.exits.end(),
              [](const RankExit& a, const RankExit& b) { return a.rank < b.rank; });
    result.diagnosis = diagnosis;
    if (interrupted_by != 0) {
      result.exit_code = 128 + interrupted_by;
      result.sentence = fmt::format("interrupted by {}", signal_name(interrupted_by));
    } else if (diagnosis) {
      result.exit_code = static_cast<int>(diagnosis->exit_code);
      result.sentence = diagnosis->sentence;
      result.rank_lines = diagnosis->rank_lines;
    } else if (timed_out) {
      result.exit_code = static_cast<int>(ExitCode::kCommunication);
      result.sentence = fmt::format("the run took longer than its time-out of {} s", options.timeout_seconds);
      result.rank_lines = rank_lines;
    } else if (blamed != nullptr) {
      result.exit_code = blamed->exit.exit_code;
      result.first_failed_rank = blamed->exit.rank;
      result.sentence = fmt::format("rank {} failed first: {}", blamed->exit.rank, blamed->exit.reason);
      if (blamed->blame == Blame::kReturnedWithCode)
        result.sentence = fmt::format("rank {} {}", blamed->exit.rank, blamed->exit.reason);
    }
    return result;
  }

  SupervisorOptions options;
  LauncherSignals signals;
  Orphans orphans;
  std::vector<Rank> ranks;
  Phase phase = Phase::kRunning;
  Clock::time_point deadline;
  Clock::time_point end_of_time;
  const Rank* blamed = nullptr;
  int interrupted_by = 0;
  bool timed_out = false;
  std::vector<std::string> rank_lines;
  std::optional<Diagnosis> diagnosis;
};

Supervisor::Supervisor(const SupervisorOptions& options) : state_(std::make_unique<State>(options)) {}

Supervisor::~Supervisor() {
  state_->kill_now();
  for (const State::Rank& rank : state_->ranks) {
    if (rank.alive) ::waitpid(rank.child.pid, nullptr, 0);
  }
  state_->orphans.kill_all();
}

void Supervisor::add(const Child& child) {
  State::Rank rank;
  rank.child = child;
  rank.exit.rank = child.rank;
  state_->ranks.push_back(rank);
}

SuperviseResult Supervisor::supervise(EventFile* events) {
  State& state = *state_;
  state.end_of_time = after(state.options.timeout_seconds);
  while (true) {
    state.obey_signals();
    state.reap(events);
    if (!state.anyone_alive()) break;
    state.look_for_proof(events);
    state.look_at_the_clock(events);
    state.take_next_step_when_due();
    state.signals.wait(kTick);
  }
  state.orphans.kill_all();
  return state.result();
}

}  // namespace lab
