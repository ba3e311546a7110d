#include "common/launch/supervise/supervisor.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "common/base/signal_name.h"
#include "common/base/subprocess.h"
#include "common/launch/supervise/launcher_signals.h"
#include "common/launch/supervise/orphans.h"

namespace lab::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{10};  // how often the ranks are checked; an exit is noticed at once
constexpr std::chrono::seconds kSuspension{1};  // without a tick: this process was stopped, or the machine slept

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

double stall_seconds(double timeout_seconds, double min_seconds) {
  return std::max(min_seconds, 6 * timeout_seconds);
}

struct Supervisor::State {
  // How strongly a rank's end counts as the cause of the run's failure.
  enum class Blame { kNone, kReturnedWithCode, kPeerFailed, kOwnFault };

  struct Rank {
    Child child;
    bool alive = true;
    Blame blame = Blame::kNone;
    RankExit exit;
    int stopped_by = 0;  // the signal; 0: running
    bool ended_by_launcher = false;
    Clock::time_point stopped_since;
    std::uint64_t num_changes = 0;  // in its pages of the event file, when last checked
  };

  // From kRunning the run is ended in steps, each with a deadline after which the next one follows.
  enum class Phase { kRunning, kGrace, kTerminated, kKilled };

  explicit State(const SupervisorOptions& given) : options(given) {}

  bool anyone_alive() const {
    return std::any_of(ranks.begin(), ranks.end(), [](const Rank& rank) { return rank.alive; });
  }

  static void signal_rank(const Rank& rank, int signal) {
    if (rank.alive) ::kill(rank.child.leads_group ? -rank.child.pid : rank.child.pid, signal);
  }

  void signal_living(int signal) const {
    for (const Rank& rank : ranks) signal_rank(rank, signal);
  }

  void enter(Phase next, double seconds) {
    if (phase == Phase::kRunning) end_of_reports = after(options.report_seconds);
    phase = next;
    deadline = after(seconds);
  }

  void kill_now() {
    signal_living(SIGKILL);
    enter(Phase::kKilled, options.kill_seconds);
  }

  // A stopped rank cannot end by itself, and those that wait for it may only notice once it is gone.
  void kill_stopped_ranks() {
    for (Rank& rank : ranks) {
      if (!rank.alive || rank.stopped_by == 0) continue;
      rank.ended_by_launcher = true;
      signal_rank(rank, SIGKILL);
    }
  }

  // A rank that has failed tells every other why, one after the other, before it ends: on a busy machine that may take
  // longer than the grace period, and the others, which know by then, end before it.
  bool someone_reports(const comm::EventFile* events) const {
    return events != nullptr && std::any_of(ranks.begin(), ranks.end(), [events](const Rank& rank) {
             return rank.alive && events->read(rank.exit.rank, nullptr).activity == comm::RankActivity::kFailed;
           });
  }

  void take_next_step_when_due(const comm::EventFile* events) {
    if (phase == Phase::kRunning) return;
    kill_stopped_ranks();
    if (Clock::now() < deadline) return;
    if (phase == Phase::kGrace) {
      if (Clock::now() < end_of_reports && someone_reports(events)) return;
      signal_living(SIGTERM);
      enter(Phase::kTerminated, options.kill_seconds);
    } else {
      kill_now();
    }
  }

  void obey_signals(comm::EventFile* events) {
    while (const std::optional<int> signal = signals.next()) {
      if (*signal == SIGINT && !options.obey_interrupt) continue;
      if (interrupted_by != 0) {  // a second signal: the user is in a hurry
        kill_now();
        continue;
      }
      interrupted_by = *signal;
      describe(events);
      signal_living(*signal);
      enter(Phase::kTerminated, options.grace_seconds);
    }
  }

  void reap(comm::EventFile* events) {
    for (Rank& rank : ranks) {
      int status = 0;
      if (!rank.alive) continue;
      const pid_t ended = ::waitpid(rank.child.pid, &status, WNOHANG | WUNTRACED | WCONTINUED);
      if (ended == rank.child.pid && (WIFSTOPPED(status) || WIFCONTINUED(status))) {
        note_stop(rank, WIFSTOPPED(status) ? WSTOPSIG(status) : 0, events);
      } else if (ended == rank.child.pid) {
        note_end(rank, status, events);
      } else if (ended < 0 && errno != EINTR) {  // it was reaped elsewhere: its status is lost
        note_end(rank, 0, events);
      }
    }
  }

  void note_stop(Rank& rank, int signal, comm::EventFile* events) {
    rank.stopped_by = signal;
    rank.stopped_since = Clock::now();
    if (events != nullptr) events->set_stopped(rank.exit.rank, signal);
  }

  void note_end(Rank& rank, int status, comm::EventFile* events) {
    const bool killed = WIFSIGNALED(status);
    rank.alive = false;
    rank.exit.exit_code = exit_code_of_status(status);
    rank.exit.stopped = (phase >= Phase::kTerminated || rank.ended_by_launcher) && rank.exit.exit_code != 0;
    rank.exit.reason = rank.exit.stopped && killed ? "stopped by the launcher" : describe_status(status);
    if (events != nullptr) note_crash(rank.exit, *events);
    if (rank.exit.exit_code == 0) {
      if (events != nullptr) events->set_returned(rank.exit.rank);
      return;
    }
    const bool returned =
        !killed && events != nullptr && events->read(rank.exit.rank, nullptr).activity == comm::RankActivity::kFinished;
    if (events != nullptr) events->set_exit_reason(rank.exit.rank, rank.exit.reason);
    if (rank.exit.stopped) return;
    rank.blame = returned                                                            ? Blame::kReturnedWithCode
                 : rank.exit.exit_code == static_cast<int>(ExitCode::kCommunication) ? Blame::kPeerFailed
                                                                                     : Blame::kOwnFault;
    if (blamed == nullptr || rank.blame > blamed->blame) blamed = &rank;
    // Each end gives those that are left as long again: on a busy machine they end one after the other, and the one
    // whose message explains all may be the last.
    if (!returned && phase <= Phase::kGrace) enter(Phase::kGrace, options.grace_seconds);
  }

  static void note_crash(RankExit& exit, const comm::EventFile& events) {
    const std::string why = events.place(exit.rank).why();
    exit.crashed = !why.empty();
    exit.task = events.read(exit.rank, nullptr).task;
    if (exit.crashed) exit.reason += (exit.task.empty() ? "" : " in " + exit.task) + why;
  }

  void look_for_proof(comm::EventFile* events) {
    if (events == nullptr || phase != Phase::kRunning) return;
    diagnosis = comm::diagnose(*events);
    if (!diagnosis) return;
    events->set_verdict({diagnosis->exit_code, diagnosis->message});
    enter(Phase::kGrace, options.grace_seconds);
  }

  void describe(const comm::EventFile* events) {
    if (events != nullptr) rank_lines = comm::describe_ranks(*events);
  }

  void end_for(const std::string& reason, const comm::EventFile* events) {
    timed_out = reason;
    describe(events);
    signal_living(SIGTERM);
    enter(Phase::kTerminated, options.kill_seconds);
  }

  void look_at_the_clock(const comm::EventFile* events) {
    if (options.timeout_seconds <= 0 || phase != Phase::kRunning || Clock::now() < end_of_time) return;
    end_for(fmt::format("the run took longer than its time-out of {} s", options.timeout_seconds), events);
  }

  // Ranks that wait for a stopped rank time out by themselves, unless they are stopped too; others do not notice. The
  // half second lets waiting ranks report first.
  void look_for_stopped_ranks(const comm::EventFile* events) {
    if (events == nullptr || options.min_stall_seconds <= 0 || phase != Phase::kRunning) return;
    for (const Rank& rank : ranks) {
      if (!rank.alive || rank.stopped_by == 0) continue;
      const double timeout = events->timeout_seconds();
      if (timeout <= 0 || Clock::now() - rank.stopped_since < std::chrono::duration<double>(timeout + 0.5)) continue;
      end_for(fmt::format("rank {} was stopped by {} and did not continue for {:g} s", rank.exit.rank,
                          signal_name(rank.stopped_by), timeout),
              events);
      return;
    }
  }

  void look_for_a_stall(const comm::EventFile* events) {
    if (events == nullptr || options.min_stall_seconds <= 0 || ranks.size() < 2 || phase != Phase::kRunning) return;
    // What ranks of this machine wait for may be going on elsewhere.
    if (events->writers() != comm::EventFile::Writers::kAllRanks) return;
    bool moved = false;
    for (Rank& rank : ranks) {
      const std::uint64_t num_changes = events->num_changes(rank.exit.rank);
      moved = moved || num_changes != rank.num_changes;
      rank.num_changes = num_changes;
    }
    const auto now = Clock::now();
    if (moved) last_move = now;
    const double timeout = events->timeout_seconds(), limit = stall_seconds(timeout, options.min_stall_seconds);
    if (timeout <= 0 || now - last_move < std::chrono::duration<double>(limit)) return;
    end_for(fmt::format("no rank has sent, received or reported anything for {:g} s", limit), events);
  }

  // While this process was stopped, the ranks may have been stopped too.
  void skip_suspension() {
    const auto now = Clock::now();
    if (now - last_turn > kSuspension) {
      for (Clock::time_point* moment : {&deadline, &end_of_reports, &end_of_time, &last_move})
        *moment += now - last_turn;
      for (Rank& rank : ranks) rank.stopped_since += now - last_turn;
    }
    last_turn = now;
  }

  SuperviseResult result() const {
    SuperviseResult result;
    for (const Rank& rank : ranks) result.exits.push_back(rank.exit);
    std::sort(result.exits.begin(), result.exits.end(),
              [](const RankExit& a, const RankExit& b) { return a.rank < b.rank; });
    result.diagnosis = diagnosis;
    if (interrupted_by != 0) {
      result.exit_code = 128 + interrupted_by;
      result.message = fmt::format("interrupted by {}", signal_name(interrupted_by));
      result.rank_lines = rank_lines;
    } else if (diagnosis) {
      result.exit_code = static_cast<int>(diagnosis->exit_code);
      result.message = diagnosis->message;
      result.rank_lines = diagnosis->rank_lines;
    } else if (!timed_out.empty()) {
      result.exit_code = static_cast<int>(ExitCode::kCommunication);
      result.message = timed_out;
      result.rank_lines = rank_lines;
    } else if (blamed != nullptr) {
      result.exit_code = blamed->exit.exit_code;
      result.first_failed_rank = blamed->exit.rank;
      result.message = fmt::format("rank {} failed first: {}", blamed->exit.rank, blamed->exit.reason);
      result.rank_lines = rank_lines;  // of a wait that timed out
      if (blamed->blame == Blame::kReturnedWithCode)
        result.message = fmt::format("rank {} {}", blamed->exit.rank, blamed->exit.reason);
    }
    return result;
  }

  SupervisorOptions options;
  LauncherSignals signals;
  Orphans orphans;
  std::vector<Rank> ranks;
  Phase phase = Phase::kRunning;
  Clock::time_point deadline;
  Clock::time_point end_of_reports;
  Clock::time_point end_of_time;
  const Rank* blamed = nullptr;
  int interrupted_by = 0;
  std::string timed_out;  // why; empty: no time-out
  Clock::time_point last_turn = Clock::now();
  Clock::time_point last_move = Clock::now();
  std::vector<std::string> rank_lines;
  std::optional<comm::Diagnosis> diagnosis;
};

Supervisor::Supervisor(const SupervisorOptions& options) : state_(std::make_unique<State>(options)) {}

Supervisor::~Supervisor() {
  state_->kill_now();
  // Every child that was killed is waited for, so that none is left as a zombie.
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

SuperviseResult Supervisor::supervise(comm::EventFile* events) {
  State& state = *state_;
  state.end_of_time = after(state.options.timeout_seconds);
  state.last_turn = state.last_move = Clock::now();
  // A turn takes what has ended since the last one, then decides whether the others may go on, until none is alive.
  while (true) {
    state.skip_suspension();
    state.obey_signals(events);
    state.reap(events);
    if (!state.anyone_alive()) break;
    state.look_for_proof(events);
    state.look_at_the_clock(events);
    state.look_for_stopped_ranks(events);
    state.look_for_a_stall(events);
    state.take_next_step_when_due(events);
    state.signals.wait(kTick);
  }
  state.orphans.kill_all();
  if (events != nullptr && state.rank_lines.empty()) state.rank_lines = events->rank_lines();
  return state.result();
}

}  // namespace lab::launch
