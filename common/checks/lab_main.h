#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/checks/checked_sizes.h"
#include "common/checks/lab_step.h"
#include "common/cli/app.h"
#include "common/log/run_report.h"

namespace lab {

namespace launch {
struct WorldOutcome;
}

/// A lab, as its main describes it.
struct LabProgram {
  std::string name;
  std::string description;
  cli::CommonOptions defaults;                  ///< for the options that all labs share
  std::string ranks_option;                     ///< "--pp": the lab's own name for --nproc; empty: none
  std::function<void(cli::App&)> add_options;   ///< its own options, for `LAB` and `LAB run`; may be empty
  std::function<void(int num_ranks)> validate;  ///< throws UsageError before a rank is started; may be empty
  /// Called once the options are valid, before there are ranks: by the process that starts them, with rank 0; under a
  /// launcher, by each rank before the rendezvous, where the others wait for it no longer than --timeout. So it should
  /// only check options: work belongs in a step, which can tell the others that it makes progress
  /// (work_while_others_wait). Not called for `run NAME`. It must not use tensors (see run_in_child). May be empty.
  std::function<void(const cli::CommonOptions&, int num_ranks, int rank)> prepare;
  /// What every rank runs, in order. Called once the options are valid and before there are ranks. With the defaults of
  /// all options, the steps also give the lines that `check-log` expects.
  std::function<std::vector<LabStep>()> steps;
  /// Called once when all ranks have ended, with what they printed: by the process that started them, or by rank 0
  /// under a launcher. Also called after a failure. May be empty.
  std::function<void(const cli::CommonOptions&, const log::RunReport&)> after;
  /// What `check` and `run NAME` run, by task or by name. Called as `steps` is. Empty: the lab has neither.
  std::function<std::vector<Case>()> cases;
  CheckedSizes sizes;  ///< the numbers of ranks on which `check` runs them
  CallTable calls;     ///< task -> student function
  std::vector<cli::Command> commands;
};

/// Prints to stderr why the world failed, if it did, and what its ranks were doing.
void explain_failure(const std::string& program, const launch::WorldOutcome& outcome);

/// Gives the App of a program, or of a command that is a lab of its own, everything that a lab has; the program must
/// live as long as the App:
///
///     LAB, LAB run NAME              a run of everything, or of some cases
///     LAB check                      runs cases and judges them (check_command.h)
///     LAB check-log FILE --nproc P   compares a log with what the steps expect
///     LAB expected-log               prints these lines, for labchecklog (expected_log_command.h)
///     LAB COMMAND                    one of `commands`
///
/// A run starts the ranks (or joins those that a launcher started), runs the steps on each and writes what was asked
/// for (--save, --json, --trace).
void add_lab(cli::App& app, const LabProgram& program);

/// The whole main function of a lab binary, of which add_lab() is the command line. Ends the process itself, with the
/// exit code.
int lab_main(int argc, char** argv, const LabProgram& program);

}  // namespace lab
