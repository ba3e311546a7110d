#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "grading/hostile/hostile_index.h"
#include "grading/processes/own_processes.h"

namespace lab::grading {

/// What a hand-in's own code throws or prints where its attack succeeds, so that it comes to light in the report.
constexpr char kBreach[] = "BREACH";

/// What is left of the grading of a hostile hand-in.
struct HostileGrading {
  std::string fault;                 ///< how the command ended if not with its results; empty: as it should
  std::string results_json;          ///< of the lab; empty: there is none
  std::vector<std::string> reports;  ///< what else was written or printed for people to read
  bool told_secret = false;          ///< some of what was written or printed tells a secret
  std::vector<std::string> damage;   ///< what was touched, what was left, what still runs: a line each
  double seconds = 0;
};

/// Compares what is left of a grading with what is required: results, with no marks (or exactly those that the entry
/// may earn), a report that says what it must and nothing that a terminal obeys, no breach, no secret told, no damage.
/// Not `isolated`, and the entry says what it may then do: only that there are results and no damage.
Verdict hostile_verdict(const HostileEntry& entry, bool isolated, const HostileGrading& grading);

/// The suite that hostile hand-ins are graded by.
struct HostileSuite {
  std::string source, build;  ///< absolute
  bool isolated = true;       ///< false: with --no-sandbox
  std::uint64_t seed = 7;
};

/// Grades an entry as an instructor does, with `labgrade grade` in a process of its own, among things that it must
/// leave alone, and looks at what is left. `lab_folder`: "a9_collectives".
/// Call      from the main thread of a process without other children
/// Errors    UsageError: the hand-in cannot be made
Verdict grade_hostile(const HostileEntry& entry, const std::string& lab_folder, const HostileSuite& suite);

}  // namespace lab::grading
