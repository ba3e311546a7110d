#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/checks/check_run.h"
#include "grading/judge/sandbox.h"

namespace lab::grading {

/// One run of a submission's rank program: some checks on some ranks, each of them a process in a sandbox of its own,
/// whose only connection is the relay in this process.
struct CaseWorldSpec {
  std::string program;
  int num_ranks = 4;
  std::uint64_t seed = 42;
  std::vector<Case> cases;
  double stall_seconds = 10;
  std::optional<std::uint64_t> shake_seed;  ///< see comm::RelayOptions
  std::vector<std::string> readable;        ///< what the program may read in addition to itself
};

/// What came back: records, with what the relay has counted, and how the run ended. None of it is a verdict.
struct CaseWorld : RecordedWorld {
  std::vector<SandboxResult> results;  ///< by rank
  /// Whether the machine is to blame for the end of the run: it could not start, or a rank waited for another that had
  /// no CPU to run on.
  bool is_machines_fault = false;
};

/// Starts the ranks, sends each its cases' inputs one after the other, and takes back their records.
/// Errors    UsageError: the system refuses a process or a socket
CaseWorld run_case_world(const Sandbox& sandbox, const CaseWorldSpec& spec);

/// What the runs of one program have in common.
struct CheckRunner {
  const Sandbox& sandbox;
  std::string program;
  std::uint64_t seed = 42;
  double stall_seconds = 10;

  /// Runs the checks on `num_ranks` ranks (check_apart). One element for each, in order. `shaken`: with messages delayed
  /// at random.
  /// Errors    NotJudged: twice, the machine kept a run from finishing
  std::vector<CheckedCase> run(int num_ranks, const std::vector<Case>& cases, bool shaken = false) const;
};

}  // namespace lab::grading
