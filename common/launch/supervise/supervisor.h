#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/watch/event_file.h"

namespace lab {

/// A rank's process, made by fork_rank() or exec_rank().
struct Child {
  int rank = 0;
  pid_t pid = 0;
  bool leads_group = true;  ///< false: made with keep_terminal
};

struct SupervisorOptions {
  double grace_seconds =
      2;  ///< after a failure: time for the other ranks to end by themselves, with their own last words
  double kill_seconds = 1;        ///< from SIGTERM to SIGKILL
  double timeout_seconds = 0;     ///< of the whole run; 0: none
  bool obey_interrupt = true;     ///< false: SIGINT belongs to a debugger
  double min_stall_seconds = 60;  ///< see stall_seconds(); 0: nothing is a stall, since a debugger may keep ranks still
};

/// How one rank ended.
struct RankExit {
  int rank = 0;
  int exit_code = 0;     ///< its own, or 128 + signal as a shell has it
  bool stopped = false;  ///< ended by the launcher
  std::string reason;    ///< "exited with code 3", "killed by signal 9 (SIGKILL)", "stopped by the launcher"
};

struct SuperviseResult {
  int exit_code = 0;                    ///< what the launcher should exit with; see supervise()
  int first_failed_rank = -1;           ///< the rank to blame; -1: none, or no single one
  std::string message;                  ///< why the run failed; empty when it did not
  std::vector<std::string> rank_lines;  ///< what each rank was doing when it was found stuck or out of time
  std::vector<RankExit> exits;          ///< by rank
  std::optional<Diagnosis> diagnosis;   ///< the proof that the run could not go on
};

/// How long all ranks of a run may go without sending, receiving or reporting anything: six times their time-out and at
/// least the given minimum. Ranks that all compute get more time than one that keeps another waiting.
double stall_seconds(double timeout_seconds, double min_seconds);

/// Watches the ranks of one run on this machine, and leaves no process behind: neither a rank nor what a rank has
/// started. It takes this process's SIGINT, SIGTERM, SIGHUP and SIGCHLD over while it lives, so it is made before the
/// first rank. Prints nothing. Example   Supervisor supervisor;
///           for (int r = 0; r < n; ++r) supervisor.add({r, fork_rank(body(r))});
///           const SuperviseResult result = supervisor.supervise(events.get());
class Supervisor {
 public:
  explicit Supervisor(const SupervisorOptions& options = {});
  ~Supervisor();  ///< kills what still lives
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  void add(const Child& child);

  /// Returns when every rank has ended. Notes each end in the event file, and the verdict once the ranks are proved
  /// stuck, a rank stays stopped by a signal for its time-out, or several ranks all stand still for stall_seconds().
  /// When a rank fails, or the run is stuck, the others get the grace; then SIGTERM and SIGKILL. A rank that has
  /// returned (kFinished in the event file) and then ends with an exit code, as after a mismatch, stops nobody. Exit
  /// code: 128 + signal after SIGINT, SIGTERM or SIGHUP; the diagnosis's when the run was stuck; 5 when the time was
  /// up; else that of the rank to blame: the first that failed by itself (not with 5, which is how a rank ends whose
  /// peer failed), else the first with 5, else the first that returned with an exit code other than 0; else 0.
  SuperviseResult supervise(EventFile* events = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// "killed by signal 9 (SIGKILL)" or "exited with code 3", of a status from waitpid().
std::string describe_status(int status);

}  // namespace lab
