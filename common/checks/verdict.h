#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/costs.h"
#include "common/checks/case.h"
#include "common/checks/symptoms/symptom.h"
#include "common/rank/record.h"

namespace lab {

/// The rank that takes or waits longest.
struct TimeExcess {
  std::size_t rank = 0;
  std::string reason;
};

/// Why ranks that took these model times exceed the bound; empty: they do not.
/// Example   "takes 16.4 ms of model time, expected at most 7.11 (it can be done in 5.69): one stage at work at a time:
///           3.0 of 4 stages idle"
///           "waits 0.0831 ms of model time for messages, expected at most 0.03: post them earlier, so that they travel
///           while the rank works"
std::optional<TimeExcess> beyond_time(const TimeBound& bound, const std::vector<ModelTime>& by_rank);

/// What is wrong with one rank's part of a case, if anything.
struct RankVerdict {
  enum class State { kRight, kWrong, kTooExpensive, kThrew, kNotImplemented, kNoRecord, kSkipped, kNotAsked };
  State state = State::kNoRecord;
  /// "result 'out', element [3, 0]: expected 10, got 2.5 (max diff 7.5; 12 of 12 elements differ)"; "3 calls of
  /// all_gather, expected at most 0"; what was thrown; why it was skipped.
  std::string reason;
  std::string missing_task;  ///< kNotImplemented
  int exit_code = 0;         ///< kThrew, kNotImplemented: of what was thrown
  ResourceUse used;          ///< of a rank that returned: by its own count
  SeenUse seen;              ///< and as its judge saw it
};

/// One case, judged over all ranks.
struct CaseVerdict {
  std::string task, name;
  std::vector<RankVerdict> ranks;
  ResourceUse of_one_process;  ///< see use_of_one_process()
  CaseFigures used = CaseFigures::zero();
  CaseFigures limits;  ///< of its bounds
  std::optional<Symptom> symptom;

  bool passed() const;           ///< right on every rank that was asked, and on at least one
  bool skipped() const;          ///< on every rank that was asked
  bool not_implemented() const;  ///< a TODO was reached on some rank
  bool too_expensive() const;    ///< right everywhere, but beyond a bound, for instance by gathering everything
  /// "rank 2, result 'out', element [3, 0]: expected 10, got 2.5 (...)": of the rank that says most about the cause,
  /// the first of equals; a rank that only reports another's failure comes last. Empty if passed or skipped.
  std::string reason() const;
  /// The same, with "; likely: the sum is divided by the number of ranks" where a symptom is known.
  std::string message() const;
};

/// Judges a case from the records of its ranks (index = rank), in a process that needs no student code.
/// Errors    what the case's own functions throw
CaseVerdict judge_case(const Case& test_case, int size, std::uint64_t seed,
                       const std::vector<std::optional<CaseRecord>>& by_rank);

}  // namespace lab
