#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/checks/case.h"
#include "common/checks/verdict.h"
#include "common/comm/trace/rank_trace.h"
#include "common/launch/run_ranks.h"
#include "common/rank/record.h"

namespace lab {

/// What one rank did in one case.
struct CaseTrace : comm::RankTrace {
  std::string task, name;
  int call = 1;
};

/// A rank's trace of a world in which it performed the cases one after the other: its part in each case that it began.
/// Each call restarts the rank's clock (measured_use()), so the n-th is the n-th period after the world's first.
std::vector<CaseTrace> traces_by_case(const std::vector<Case>& cases, const CasePlace& place,
                                      const std::vector<comm::TraceEvent>& trace);

/// Whether some rank must send or receive something, by the case's bounds.
bool must_communicate(const Case& test_case, int size, std::uint64_t seed);

}  // namespace lab

// Cases are performed in worlds of ranks, which record what they return, and judged from these records afterwards.
namespace lab {

/// What the ranks of one world have recorded, and how it ended.
struct RecordedWorld {
  std::vector<std::vector<CaseRecord>> by_rank;
  bool intact = true;  ///< false: something other than a record was written, perhaps over records
  std::optional<launch::RankFailure> failure;  ///< why the world failed, in any way
  std::vector<std::string> rank_lines;         ///< what each rank was doing when it was found stuck
  std::vector<std::vector<CaseTrace>> traces;  ///< by rank, also of a case from which it has not returned
  /// If it was found stuck: ranks that had come as far as they could, in every such run.
  std::vector<int> stuck_ranks;

  /// The rank's record of one of the case's calls; nullptr: none.
  const CaseRecord* find(int rank, const Case& test_case, int call = 1) const;
  /// Whether every rank that was asked returned from all calls of the case or reached a TODO.
  bool came_through(const Case& test_case) const;
  /// Whether some rank held more after the last call of the case than after the one before it.
  bool retains(const Case& test_case) const;
  /// Whether some rank had finished the case, and may have gone on to the next one.
  bool some_rank_left(const Case& test_case) const;
  CaseVerdict judged(const Case& test_case, std::uint64_t seed) const;
  /// What the ranks did in one of the case's calls, in model time, as plot::to_json() writes it; of a case that did not come
  /// through, what its stuck ranks did. Empty: the ranks neither communicated nor had to, or the world failed without
  /// being stuck: then it depends on the machine how far the others had come.
  std::string plan_timeline(const Case& test_case, std::uint64_t seed, int call) const;
};

/// Performs cases in a new world, each as often as it is called; the caller leaves out those that are skipped on its
/// number of ranks. As for run_ranks(): forks from this process.
/// Errors    UsageError: the system cannot create a process or a file
RecordedWorld record_cases(const std::vector<Case>& cases, const CallTable& calls, const launch::WorldSpec& spec,
                           std::uint64_t seed);

/// Performs cases in a new world, of whatever kind.
using PerformWorld = std::function<RecordedWorld(const std::vector<Case>&)>;

/// The world whose records decide about a case, and whether that case is to blame if this world failed: no rank ran any
/// other case there.
struct DecidingWorld {
  std::shared_ptr<const RecordedWorld> world;
  bool to_blame = false;
};

/// Performs the cases in as few worlds as possible, such that no case fails because of another: one that throws, hangs
/// or ends its process fails alone, and those after it get a new world. If a case comes through only in a new world,
/// those before it are performed again; if a world failed after its last case, or its records were overwritten, each
/// half of the cases is performed again, until the failure belongs to one case.
/// Returns   one element for each case, in order
std::vector<DecidingWorld> perform_apart(const std::vector<Case>& cases, const PerformWorld& perform);

/// Performs apart those cases that are not skipped on `size` ranks, then judges all of them in this process. In the order
/// of the cases.
std::vector<CaseVerdict> check_apart(const std::vector<Case>& cases, int size, std::uint64_t seed,
                                     const PerformWorld& perform);

/// By task, in the order of the verdicts.
std::vector<TaskOutcome> make_outcomes(std::vector<CaseVerdict> verdicts);

/// check_apart() in worlds of this process.
/// Call      forks (see run_ranks): this process must not have used a thread pool or run backward()
/// Errors    UsageError: the system cannot create a process or a file
std::vector<CaseVerdict> run_checks(const std::vector<Case>& cases, const CallTable& calls,
                                    const launch::WorldSpec& world, std::uint64_t seed);

}  // namespace lab
