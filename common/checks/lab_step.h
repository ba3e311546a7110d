#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/checks/case.h"
#include "common/cli/common_options.h"
#include "common/log/line_template.h"
#include "common/log/log_expectation.h"
#include "common/log/printer.h"
#include "common/log/run_report.h"

// A lab's program is a list of steps. Each step prints its lines, and knows which lines a log of a right run holds.
namespace lab {

/// What a step is given on one rank.
struct RankRun {
  Communicator& comm;
  log::Printer& out;
  const cli::CommonOptions& options;
  const CallTable& calls;  ///< the lab's
  std::string node;        ///< SLURM_NODEID, or "N/A"
  int local_rank = 0;
  at::Device device = at::kCPU;
  TensorMap& saved;                     ///< goes to DIR/rank<r>.safetensors with --save DIR
  std::vector<log::PartReport>& parts;  ///< what it used for what; printed at the end of the run

  /// Prints "[Rank r] " and the template, filled in. The step expects rank_text() of the same template.
  template <class... Values>
  void print(std::string_view line_template, const Values&... values) {
    out.text(comm.rank(), log::filled(line_template, values...));
  }
  /// Runs a case and reports it, or prints that it is skipped.
  void check(const Case& test_case);
  /// Prints the case's match line and saves its tensors.
  void report(const Case& test_case, const CaseResult& result);
  /// Notes what this rank used for a part of the run, and what one process uses that does all of it: its model time
  /// follows from its operations.
  void note_part(const std::string& name, const ResourceUse& used, ResourceUse of_one_process);
  /// Saves its tensors only: <name>.input.*, <name>.weight.*, <name>.expected.*, <name>.actual.*
  void save(const Case& test_case, const CaseResult& result);
};

using StepBody = std::function<void(RankRun&)>;

/// One step of a lab's program.
struct LabStep {
  StepBody run;  ///< on every rank
  std::function<void(log::LogExpectation&)>
      expect;  ///< adds the lines that run() prints when all is right; empty: none
};

/// Prints where each rank runs, and on rank 0, once all ranks have arrived, that they are ready.
LabStep announcement();

/// Prints "done" on every rank.
LabStep done();

/// Cases that are printed under one heading.
struct Section {
  std::string message;  ///< of rank 0; empty: no heading
  std::vector<Case> cases;
};

/// The cases of all sections, in order.
std::vector<Case> list_cases(const std::vector<Section>& sections);

/// Prints each section's message and runs its cases. A log's figures must be at most `max_bound`. Without one, those of
/// a case with an absolute tolerance are within it (0 where data are exact), and those of a case that is compared by
/// its norm within 1e-5, as its data are of order 1 or smaller.
LabStep checks(const std::vector<Section>& sections, std::optional<double> max_bound = {});

/// The lines that the steps print on `num_ranks` ranks when all is right. `world`: a run's --world.
log::LogExpectation make_expectation(const std::vector<LabStep>& steps, int num_ranks,
                                     const std::string& world = "processes");

}  // namespace lab
