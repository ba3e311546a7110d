#pragma once

#include <functional>
#include <string>

#include "common/lab/case.h"
#include "common/report/common_options.h"
#include "common/report/log_expectation.h"
#include "common/report/printer.h"

namespace lab {

class App;

/// What a lab's body gets on one rank.
struct RankRun {
  Communicator& comm;
  Printer& out;
  const CommonOptions& options;
  std::string node;  ///< SLURM_NODEID, or "N/A"
  int local_rank = 0;
  at::Device device = at::kCPU;
  TensorMap& saved;  ///< goes to DIR/rank<r>.safetensors with --save DIR

  /// Prints the case's match line (or skipped line) and saves its tensors.
  void report(const Case& the_case, const CaseResult& result);
  /// Only saves them: <name>.input.*, <name>.weight.*, <name>.expected.*, <name>.actual.*
  void save(const Case& the_case, const CaseResult& result);
};

/// A lab, as its main describes it.
struct LabProgram {
  std::string name;
  std::string description;
  std::function<void(App&)> add_options;        ///< options of its own; may be empty
  std::function<void(int num_ranks)> validate;  ///< throws UsageError before a rank is started; may be empty
  std::function<void(RankRun&)> body;           ///< on every rank
  std::function<LogExpectation(int num_ranks)> expected_log;
};

/// The whole main function of a lab binary: `check-log FILE --nproc P` holds a log against the expectation; otherwise
/// reads the options, starts the ranks (or joins those that a launcher started), runs the body on each, writes what was
/// asked for (--save, --json, --trace) and returns the exit code. Ends the process itself where ranks were processes.
int lab_main(int argc, char** argv, const LabProgram& program);

}  // namespace lab
