#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/checks/check_run.h"
#include "grading/judge/sandbox.h"

namespace lab::grading {

/// One run of a submission's program: some checks on some ranks.
struct CaseWorldSpec {
  std::string program;
  int num_ranks = 4;
  std::uint64_t seed = 42;
  std::vector<std::string> cases;  ///< their names
  double stall_seconds = 10;
  std::vector<std::string> readable;  ///< what the program may read in addition to itself
};

/// What came back: records, and how the run ended. None of it is a verdict.
struct CaseWorld : RecordedWorld {
  SandboxResult result;
  /// Whether the machine is to blame for the end of the run: it could not start, or a rank waited for another that had
  /// no CPU to run on.
  bool is_machines_fault = false;
};

/// Starts the program's `records` in the sandbox, with a file in memory for each rank.
/// Errors    UsageError: the system refuses a process or a file
CaseWorld run_case_world(const Sandbox& sandbox, const CaseWorldSpec& spec);

/// What the runs of one program have in common.
struct CheckRunner {
  const Sandbox& sandbox;
  std::string program;
  std::uint64_t seed = 42;
  double stall_seconds = 10;

  /// Runs the checks on `num_ranks` ranks (check_apart). One element for each, in order.
  /// Errors    NotJudged: twice, the machine kept a run from finishing
  std::vector<CheckedCase> run(int num_ranks, const std::vector<Case>& cases) const;
};

}  // namespace lab::grading
