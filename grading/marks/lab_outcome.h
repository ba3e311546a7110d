#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/checks/case_verdict.h"

// What the judge found, before it is turned into marks. Free of tensors.
namespace lab::grading {

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
std::string describe_finding(const CaseVerdict& check);

/// Both kinds of notes.
std::vector<std::string> all_notes(const LabOutcome& outcome);

/// A line for each log: "a4_data_tensor.log is exactly the log of a right run on 4 ranks".
std::vector<std::string> evidence_lines(const LabOutcome& outcome);

}  // namespace lab::grading
