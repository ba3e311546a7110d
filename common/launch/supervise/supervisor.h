#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/watch/event_file.h"

namespace lab::launch {

/// A rank's process, made by fork_process() or exec_process().
struct Child {
  int rank = 0;
  pid_t pid = 0;
  bool leads_group = true;  ///< false: made with keep_terminal
};

struct SupervisorOptions {
  double grace_seconds = 2;       ///< after each failure: for the other ranks to exit with their own messages
  double kill_seconds = 1;        ///< from SIGTERM to SIGKILL
  double timeout_seconds = 0;     ///< of the whole run; 0: none
  bool obey_interrupt = true;     ///< false: SIGINT belongs to a debugger
  double min_stall_seconds = 60;  ///< see stall_seconds(); 0: no stall detection, as a debugger may pause ranks
  double report_seconds = 30;     ///< from the first failure: for a rank that has failed to tell the others why
};

/// How one rank ended.
struct RankExit {
  int rank = 0;
  int exit_code = 0;     ///< its own, or 128 + signal as in a shell
  bool stopped = false;  ///< stopped by the launcher
  bool crashed = false;  ///< by its own code, whose line `reason` then has
  std::string task;      ///< what it worked on: "a9.allreduce, AllReduceLarge"; may be empty
  std::string reason;    ///< "exited with code 3", "killed by signal 9 (SIGKILL)", "stopped by the launcher"
};

struct SuperviseResult {
  int exit_code = 0;                         ///< what the launcher should exit with; see supervise()
  int first_failed_rank = -1;                ///< the rank to blame; -1: no single one
  std::string message;                       ///< why the run failed; empty when it did not
  std::vector<std::string> rank_lines;       ///< what each rank was doing when the run was stuck or timed out
  std::vector<RankExit> exits;               ///< by rank
  std::optional<comm::Diagnosis> diagnosis;  ///< the proof that the run could not go on
};

/// How long all ranks of a run may go without sending, receiving or reporting anything: six times their time-out, and
/// at least the given minimum. If all ranks compute, they get more time than a rank that keeps another waiting.
double stall_seconds(double timeout_seconds, double min_seconds);

/// Watches the ranks of one run on this machine, and leaves no process behind: neither a rank nor anything a rank has
/// started. It takes over this process's SIGINT, SIGTERM, SIGHUP and SIGCHLD while it lives, so create it before the
/// first rank. Prints nothing.
/// Example   Supervisor supervisor;
///           for (int r = 0; r < n; ++r) supervisor.add({r, fork_process(body(r))});
///           const SuperviseResult result = supervisor.supervise(events.get());
class Supervisor {
 public:
  explicit Supervisor(const SupervisorOptions& options = {});
  ~Supervisor();  ///< kills what is still alive
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  void add(const Child& child);

  /// Returns when every rank has ended. Records each end in the event file, and the verdict once the ranks are proved
  /// stuck, a rank stays stopped by a signal for its time-out, or several ranks all stall for stall_seconds(). When a
  /// rank fails, or the run is stuck, the others get the grace period, and one that tells the others why it failed
  /// gets report_seconds; then SIGTERM and SIGKILL. A rank that has
  /// returned (kFinished in the event file) and then exits with a nonzero code, as after a mismatch, stops no other.
  ///
  /// The exit code is the first of these that applies:
  /// - 128 + signal after SIGINT, SIGTERM or SIGHUP
  /// - the diagnosis's if the run was stuck
  /// - 5 if the run timed out
  /// - that of the rank to blame: the first that failed by itself (not with 5, the code of a rank whose peer failed),
  ///   else the first with 5, else the first that returned with an exit code other than 0
  /// - 0
  SuperviseResult supervise(comm::EventFile* events = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lab::launch
