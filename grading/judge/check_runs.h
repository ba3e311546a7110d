#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/recorded_world.h"
#include "common/checks/verdict.h"
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
  std::string broken;  ///< what is wrong with a rank's records; empty if nothing is
  SandboxResult result;
  std::string message;  ///< why the run failed, as the program put it; empty if it did not fail

  bool ok() const { return message.empty() && broken.empty(); }
  /// Whether the machine is to blame for the end of the run: it could not start, or a rank waited for another that had
  /// no CPU to run on.
  bool is_machines_fault = false;
};

/// Starts the program's `records` in the sandbox, with a file in memory for each rank.
/// Errors    UsageError: the system refuses a process or a file
CaseWorld run_case_world(const Sandbox& sandbox, const CaseWorldSpec& spec);

/// One check on one world size.
struct CheckRun {
  CaseVerdict verdict;
  std::string message;  ///< why its world failed, if the check is to blame; empty if it did not fail
  bool deadlocked = false;
};

/// What the runs of one program have in common.
struct CheckRunner {
  const Sandbox& sandbox;
  std::string program;
  std::uint64_t seed = 42;
  double stall_seconds = 10;

  /// Runs the checks on `num_ranks` ranks, together where nothing goes wrong and apart where something does
  /// (perform_apart). One element for each, in order.
  /// Errors    NotJudged: twice, the machine kept a run from finishing
  std::vector<CheckRun> run(int num_ranks, const std::vector<Case>& cases) const;
};

}  // namespace lab::grading
