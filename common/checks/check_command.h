#pragma once

#include <string>
#include <vector>

#include "common/base/errors.h"
#include "common/checks/check_run.h"

namespace lab {

namespace cli {
class App;
}
struct LabProgram;

// Each function gives a command its options and its action; the program must live as long as the App.

/// `LAB check-log FILE --nproc P`: prints what is wrong with the log, one line each, or that it is accepted.
/// Returns   0 for an accepted log, 1 for a refused one
/// Errors    UsageError: options; a file that cannot be read
void check_log_command(cli::App& app, const LabProgram& program);

/// A task's checks as its author sees them, with a line for each that is wrong:
///
///     a9.broadcast: 3 of 4 checks right on 4 ranks
///       wrong    BroadcastFromLast: rank 0, result 'out', element [0, 0]: expected 12, got 3 (...)
///                likely: every rank has what rank 0 had before: src_rank is not used
///     a9.design: not implemented: stops at TODO(a9.tensor_parallel_shards)
std::string check_text(const TaskCheck& check);

/// "12 of 31 tasks right", and how many are not implemented or were skipped.
class Summary {
 public:
  void add(bool passed, bool todo, bool skipped);
  std::string text() const;

 private:
  int num_tasks_ = 0, num_passed_ = 0, num_todo_ = 0, num_skipped_ = 0;
};

/// [{task, passed, skipped, exit_code, words, ranks, checks: [{name, passed, skipped, words, symptom, likely}]}]:
/// `symptom` is an id, `likely` its message, `words` of a task the first line of check_text() after the id.
std::string check_json(const std::vector<TaskCheck>& checks);

/// `LAB check [TASK or case] [--nproc P] [--seed S] [--timeout T] [--shake N] [--json FILE]`: runs the task's cases
/// (those of all tasks if none is named), judges them, and prints what is wrong and the likely cause, as check_text()
/// does: on each of the lab's numbers of ranks as long as the task is right, or on P alone. With --shake, what is right is run N more times through a relay that delays what
/// ranks wait for, so that they go on in other orders, until a run goes wrong. --json: check_json(), and `right_on`, a
/// list of numbers of ranks.
/// Returns   the first exit code of a task that is not 0, in the order of the table
/// Errors    UsageError: options; a name that matches no case or task; a file that cannot be written
void check_command(cli::App& app, const LabProgram& program);

}  // namespace lab
