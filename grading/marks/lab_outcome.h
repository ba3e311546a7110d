#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/costs.h"

// What the judge found, before it is turned into marks. Free of tensors.
namespace lab::grading {

/// One case of a task, over all world sizes.
struct CheckOutcome {
  enum class State {
    kNotRun,
    kPassed,
    kFailed,
    kTooExpensive,
    kSkipped,
    kNotJudged  ///< the machine kept it from being judged, or somebody has to look first: no marks yet; see `reason`
  };
  std::string name;  ///< "BroadcastFromLast"
  State state = State::kNotRun;
  std::string reason;       ///< the first thing that is wrong: "on 4 ranks: rank 2, result 'out', element [3]: ..."
  std::string symptom_id;   ///< empty: none
  std::string likely = {};  ///< the likely cause, for the author of the code; empty: unknown
  CaseFigures used = CaseFigures::zero();  ///< what the run that failed has cost
  CaseFigures most = {};                   ///< what it may cost
  std::string timeline = {};  ///< what its ranks did, in model time, as JSON of plot::to_json(); may be empty

  /// Passed, or there was nothing to pass.
  bool is_fine() const { return state == State::kPassed || state == State::kSkipped; }
};

struct TaskOutcome {
  enum class State {
    kNotRun,          ///< no complete result: 0 marks; `reason` says why
    kNotImplemented,  ///< a TODO was reached
    kJudged,          ///< its checks say what is right
    kNotJudged        ///< the machine kept it from being judged, or somebody has to look first; see `reason`
  };
  std::string id;
  State state = State::kNotRun;
  std::vector<CheckOutcome> checks;
  std::string missing_task;     ///< kNotImplemented: whose TODO was reached; not kept
  std::string reason;           ///< "student/broadcast/flat.cpp does not compile: ..."
  std::string skipped_because;  ///< the need that failed, if that may be why this failed: "a9.all_to_all"
  std::string stand_in;         ///< "the reference in place of student/all_to_all, since ..."; empty: no stand-in

  bool passed() const;      ///< judged, some check passed, none failed
  bool not_judged() const;  ///< it, or some check of it
};

/// One lab of one submission.
struct LabOutcome {
  std::string lab;
  std::string student = {};  ///< the id of who handed it in, for numbers of their own; empty: unknown
  std::map<std::string, TaskOutcome> tasks;
  std::vector<std::string> hand_in_notes;  ///< who handed it in, and missing, extra and refused files
  std::vector<std::string> notes;          ///< of the judge: compiler's first errors, what the run printed
  std::string isolation;                   ///< "bubblewrap: no network, ..." or "none: bubblewrap is not installed"
  std::string seed;                        ///< to replay: "--seed 123"
  double seconds = 0;
  std::map<std::string, std::string> evidence;  ///< logs that were handed in, by name -> what the check of each found
  /// Files that were left out until somebody has looked at these symbols of theirs. For the grader at the terminal, and
  /// not kept: the tasks' reasons say so, too.
  std::map<std::string, std::set<std::string>> needs_look;
  std::map<std::string, std::string> answers;  ///< hand-in files that are not code, by name: bytes
};

/// The line of a report for a check that earns nothing; empty for others.
std::string finding_of(const CheckOutcome& check);

/// Both kinds of notes.
std::vector<std::string> all_notes(const LabOutcome& outcome);

/// A line for each log: "a4_data_tensor.log is exactly the log of a right run on 4 ranks".
std::vector<std::string> evidence_lines(const LabOutcome& outcome);

}  // namespace lab::grading
