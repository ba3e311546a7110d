#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/checks/check_run.h"

namespace lab::grading {

/// By how much a rank may exceed the reference in what is seen of it without exceeding it as much in what it counts.
/// Seconds of CPU time and resident memory vary from run to run, and code may be slow without hiding anything: only
/// what exceeds this contradicts the count.
constexpr double kMostUnclaimed = 4;

/// Whether the reference must be asked: much more was seen than what was counted explains on any machine.
bool is_suspicious(const RankVerdict& own);

/// Why `own` cannot be what the rank says, when the reference on the same inputs and machine used `reference`; empty: it
/// may be. "used 6.1 s of CPU time where the reference used 0.3 s, but counted 1000 floating-point operations where it
/// counted 1000"
std::string find_contradiction(const RankVerdict& own, const RankVerdict& reference);

/// Holds what the ranks of a submission say about themselves against what was seen of them. Student code runs in the
/// process that counts, so its count is a claim.
class ClaimCheck {
 public:
  /// Runs one case with the reference's files, on this machine.
  using RunReference = std::function<CaseVerdict(const Case&, int num_ranks)>;

  /// Without a reference, whatever is claimed is believed.
  explicit ClaimCheck(RunReference run_reference) : run_reference_(std::move(run_reference)) {}

  /// The first rank's claim that is contradicted: "needs a look: rank 1 used ..."; empty: none. The reference runs only
  /// if some rank is suspicious.
  /// Errors    NotJudged, BudgetSpent: those of running the reference
  std::string contradiction(const Case& test_case, int num_ranks, const CaseVerdict& run) const;

 private:
  RunReference run_reference_;
};

}  // namespace lab::grading
