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

/// What a lab's body gets on one rank.
struct RankRun {
  Communicator& comm;
  Printer& out;
  const CommonOptions& options;
  std::string node;  ///< SLURM_NODEID, or "N/A"
  int local_rank = 0;
  at::Device device = at::kCPU;
  TensorMap& saved;  ///< goes to DIR/rank<r>.safetensors with --save DIR
  std::string only;  ///< what `LAB run NAME` named; empty: everything

  /// Prints where this rank lives, and on rank 0, once all ranks are there, that they are.
  void announce();
  /// Runs a case and reports it, unless only others were asked for.
  void check(const Case& test_case, const CallTable& calls);
  /// Prints the case's match line (or skipped line) and saves its tensors.
  void report(const Case& test_case, const CaseResult& result);
  /// Only saves them: <name>.input.*, <name>.weight.*, <name>.expected.*, <name>.actual.*
  void save(const Case& test_case, const CaseResult& result);
};

/// The lines of RankRun::announce(), on every rank.
void expect_announcement(LogExpectation& log);

/// A further word that a lab understands in place of a run: `LAB NAME arguments`.
struct LabCommand {
  std::string name;
  std::string help;                                    ///< "bench [--nproc P]"
  std::function<ExitCode(int argc, char** argv)> run;  ///< argv[0] is the word itself
};

/// A lab, as its main describes it.
struct LabProgram {
  std::string name;
  std::string description;
  CommonOptions defaults;                       ///< of the options that every lab shares
  std::string ranks_option;                     ///< "--pp": the lab's own word for --nproc; empty: none
  std::function<void(App&)> add_options;        ///< options of its own; may be empty
  std::function<void(int num_ranks)> validate;  ///< throws UsageError before a rank is started; may be empty
  /// Called once the options are known to be good, before there are ranks: by the process that starts them, with rank
  /// 0; where a launcher started them, by each before it meets the others, which wait for it no longer than --timeout.
  /// So it checks options and does no work: that is the body's, which can tell the others that it makes progress
  /// (work_while_others_wait). Not for `run NAME`. It must leave tensors alone (see run_in_child). May be empty.
  std::function<void(const CommonOptions&, int num_ranks, int rank)> prepare;
  std::function<void(RankRun&)> body;  ///< on every rank
  /// Called once when all ranks have ended, with what they printed: by the process that started them, or by rank 0
  /// where a launcher did. Also after a failure. May be empty.
  std::function<void(const CommonOptions&, const RunReport&)> after;
  std::function<LogExpectation(int num_ranks)> expected_log;
  /// What `LAB run NAME` chooses from, by task or by name, and what `check` and `records` run; empty: there is no such
  /// choice.
  std::vector<Case> cases;
  CallTable calls;  ///< task -> student function: what `check` and `records` call
  std::vector<LabCommand> commands;
};

/// Why the world failed, if it did, and what its ranks were doing, on stderr.
void explain_failure(const std::string& program, const WorldOutcome& outcome);

/// The whole main function of a lab binary: `check-log FILE --nproc P` holds a log against the expectation; `check`
/// and, for a judge, `records` run cases (check_command.h, records_command.h); a command's name starts that; otherwise
/// reads the options (behind `run NAME`, of a run of some cases only), starts the ranks (or joins those that a launcher
/// started), runs the body on each, writes what was asked for (--save, --json, --trace) and returns the exit code. Ends
/// the process itself where ranks were processes.
int lab_main(int argc, char** argv, const LabProgram& program);

}  // namespace lab
