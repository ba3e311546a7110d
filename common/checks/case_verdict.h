#pragma once

#include <string>
#include <vector>

#include "common/base/costs.h"
#include "common/base/worth.h"

// What was found, without tensors: of a rank, a case, a task.
namespace lab {

/// What a wrong result looks like: the likely cause, described for the author of the code.
struct Symptom {
  std::string id;            ///< "divided_by_world_size"; empty: none is known
  std::string message = {};  ///< "the result is the sum divided by the number of ranks (4)"
};

/// What is wrong with one rank's part of a case, if anything.
struct RankVerdict {
  CaseEnd end = CaseEnd::kNothing;
  Worth worth = Worth::kFailed;  ///< kSkipped: this rank was not asked, or the case was skipped
  /// "result 'out', element [3, 0]: expected 10, got 2.5 (max diff 7.5; 12 of 12 elements differ)"; "3 calls of
  /// all_gather, expected at most 0"; what was thrown; why it was skipped.
  std::string reason = {};
  std::string missing_task = {};  ///< kNotImplemented
  int exit_code = 0;              ///< kThrew, kNotImplemented: of what was thrown
  ResourceUse used = {};          ///< of a rank that returned: by its own count
  SeenUse seen = {};              ///< and as its judge saw it
};

/// One case over all ranks, with the failure of its world; in marks, over all numbers of ranks.
struct CaseVerdict {
  std::string name;  ///< "BroadcastFromLast"
  Worth worth = Worth::kNotRun;
  /// The first thing that is wrong: "rank 2, result 'out', element [3, 0]: expected 10, got 2.5 (...)", of the rank that
  /// says most about the cause, the first of equals; a rank that only reports another's failure comes last. Over all
  /// numbers of ranks it begins with "on 4 ranks: ".
  std::string reason = {};
  Symptom symptom = {};  ///< the likely cause; without a message where the failure says it
  CaseFigures used = CaseFigures::zero();
  CaseFigures limits = {};    ///< what it may cost
  std::string timeline = {};  ///< of a wrong case: what its ranks did, in model time, as JSON of plot::to_json()
  int call = 1;               ///< which of its calls is wrong; 1 if none is
  std::string task = {};
  std::vector<RankVerdict> ranks = {};
  ResourceUse of_one_process = {};           ///< see use_of_one_process()
  std::string failure = {};                  ///< of its world, if the case is to blame for that
  int failure_code = 0;                      ///< the failure's exit code
  std::vector<std::string> rank_lines = {};  ///< what each rank was doing when that world was found stuck

  bool passed() const { return worth == Worth::kPassed; }
  bool skipped() const { return worth == Worth::kSkipped; }
  bool too_expensive() const { return worth == Worth::kTooExpensive; }  ///< right everywhere, but beyond a bound
  bool is_fine() const { return passed() || skipped(); }
  /// The task of the TODO that a rank reached; empty: none did.
  std::string missing_task() const;
  /// The reason, with "; likely: the sum is divided by the number of ranks" where a symptom is known.
  std::string message() const;
};

/// One task, over all its checks.
struct TaskOutcome {
  std::string id;
  Worth worth = Worth::kNotRun;  ///< kAsChecked, unless it has no complete result; `reason` says why
  std::vector<CaseVerdict> checks = {};
  std::string missing_task = {};     ///< kNotImplemented: whose TODO was reached; not kept
  std::string reason = {};           ///< "student/broadcast/flat.cpp does not compile: ..."
  std::string skipped_because = {};  ///< the need that failed, if that may be why this failed: "a9.all_to_all"
  std::string stand_in = {};         ///< "the reference in place of student/all_to_all, since ..."; empty: no stand-in

  bool passed() const;                                      ///< some check passed, none failed
  bool skipped() const;                                     ///< all checks
  bool not_judged() const;                                  ///< it, or some check of it
  const CaseVerdict* find(const std::string& check) const;  ///< nullptr: there is none of this name
};

}  // namespace lab
