#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/checks/check_run.h"
#include "grading/sandbox/rank_server.h"

namespace lab::grading {

/// One run of a submission's rank program: some checks on some ranks, each of them a process of its own in the program's
/// sandbox, whose only connection is the relay in this process.
struct CaseWorldSpec {
  int num_ranks = 4;
  std::uint64_t seed = 42;
  std::vector<Case> cases;
  double stall_seconds = 10;
  std::optional<std::uint64_t> shake_seed;  ///< see comm::RelayOptions
};

/// What came back: records, with what the relay has counted, and how the run ended. None of it is a verdict.
struct CaseWorld : RecordedWorld {
  std::vector<SandboxResult> results;  ///< by rank
  int num_started = 0;                 ///< ranks that got as far as to ask for work
  /// Whether the machine is to blame for the end of the run: it could not start, or a rank waited for another that had
  /// no CPU to run on.
  bool is_machines_fault = false;
};

/// Starts the ranks, sends each its cases' inputs one after the other, and takes back their records.
/// Errors    UsageError: the system refuses a socket
CaseWorld run_case_world(RankServer& server, const CaseWorldSpec& spec);

/// The submission has used up its time: what it has not shown yet fails.
class BudgetSpent : public std::runtime_error {
 public:
  BudgetSpent() : std::runtime_error("not run: the submission had used up its time") {}
};

/// What the runs of one program have in common.
struct CheckRunner {
  std::shared_ptr<RankServer> server;
  std::uint64_t seed = 42;
  double stall_seconds = 10;

  /// Runs the checks on `num_ranks` ranks (check_apart). One element for each, in order. `shaken`: with messages delayed
  /// at random.
  /// Errors    NotJudged: twice, the machine kept a run from finishing; BudgetSpent
  std::vector<CaseVerdict> run(int num_ranks, const std::vector<Case>& cases, bool shaken = false) const;
};

}  // namespace lab::grading
