#pragma once

#include <functional>
#include <string>

#include "common/checks/case.h"
#include "common/cli/common_options.h"
#include "common/log/log_expectation.h"
#include "common/log/printer.h"
#include "common/log/run_report.h"

namespace lab {

class App;
struct WorldOutcome;

/// What a lab's body is given on one rank.
struct RankRun {
  Communicator& comm;
  Printer& out;
  const CommonOptions& options;
  std::string node;  ///< SLURM_NODEID, or "N/A"
  int local_rank = 0;
  at::Device device = at::kCPU;
  TensorMap& saved;  ///< goes to DIR/rank<r>.safetensors with --save DIR
  std::string only;  ///< NAME of `LAB run NAME`; empty: everything

  /// Prints where this rank runs, and on rank 0, once all ranks have arrived, that they are ready.
  void announce();
  /// Runs a case and reports it, unless `only` names others.
  void check(const Case& test_case, const CallTable& calls);
  /// Prints the case's match line (or skipped line) and saves its tensors.
  void report(const Case& test_case, const CaseResult& result);
  /// Saves its tensors only: <name>.input.*, <name>.weight.*, <name>.expected.*, <name>.actual.*
  void save(const Case& test_case, const CaseResult& result);
};

/// Expects the lines of RankRun::announce(), on every rank.
void expect_announcement(LogExpectation& log);

/// An additional subcommand of a lab: `LAB NAME arguments`.
struct LabCommand {
  std::string name;
  std::string help;                                    ///< "bench [--nproc P]"
  std::function<ExitCode(int argc, char** argv)> run;  ///< argv[0] is the name
};

/// A lab, as its main describes it.
struct LabProgram {
  std::string name;
  std::string description;
  CommonOptions defaults;                       ///< for the options that all labs share
  std::string ranks_option;                     ///< "--pp": the lab's own name for --nproc; empty: none
  std::function<void(App&)> add_options;        ///< its own options; may be empty
  std::function<void(int num_ranks)> validate;  ///< throws UsageError before a rank is started; may be empty
  /// Called once the options are valid, before there are ranks: by the process that starts them, with rank 0; under a
  /// launcher, by each rank before the rendezvous, where the others wait for it no longer than --timeout. So it should
  /// only check options: work belongs in the body, which can tell the others that it makes progress
  /// (work_while_others_wait). Not called for `run NAME`. It must not use tensors (see run_in_child). May be empty.
  std::function<void(const CommonOptions&, int num_ranks, int rank)> prepare;
  std::function<void(RankRun&)> body;  ///< on every rank
  /// Called once when all ranks have ended, with what they printed: by the process that started them, or by rank 0
  /// under a launcher. Also called after a failure. May be empty.
  std::function<void(const CommonOptions&, const RunReport&)> after;
  std::function<LogExpectation(int num_ranks)> expected_log;
  /// What `LAB run NAME` selects from, by task or by name, and what `check` and `records` run; empty: the lab has none
  /// of these subcommands.
  std::vector<Case> cases;
  CallTable calls;  ///< task -> student function: what `check` and `records` call
  std::vector<LabCommand> commands;
};

/// Prints to stderr why the world failed, if it did, and what its ranks were doing.
void explain_failure(const std::string& program, const WorldOutcome& outcome);

/// The whole main function of a lab binary:
///
///     LAB check-log FILE --nproc P   compares a log with the expectation
///     LAB check, LAB records         run cases, `records` for a judge (check_command.h)
///     LAB COMMAND                    runs one of `commands`
///     LAB run NAME, LAB              a run of some cases, or of everything
///
/// A run reads the options, starts the ranks (or joins those that a launcher started), runs the body on each and writes
/// what was asked for (--save, --json, --trace). Ends the process itself, with the exit code.
int lab_main(int argc, char** argv, const LabProgram& program);

}  // namespace lab
