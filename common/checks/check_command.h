#pragma once

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

/// `LAB check [TASK or case] [--nproc P] [--seed S] [--timeout T] [--shake N] [--json FILE] [--junit FILE] [--score FILE]`:
/// runs cases (those of all tasks if none is named), judges them, and prints what is wrong and the likely cause, as
/// check_text() does: on each of the lab's numbers of ranks as long as the task is right, or on P alone. With --shake,
/// what is right is run N more times through a relay that delays what ranks wait for, so that they go on in other orders,
/// until a run goes wrong. --json: check_json(), `right_on`, a list of numbers of ranks, and `heading`, which of the shaken
/// runs went wrong. --junit: check_junit.h. --score, --figures: score.h.
/// Returns   the first exit code of a task that is not 0, in the order of the table
/// Errors    UsageError: options; a name that matches no case or task; a file that cannot be written
void check_command(cli::App& app, const LabProgram& program);

}  // namespace lab
