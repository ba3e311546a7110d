#pragma once

#include <cstdint>
#include <string>

#include "grading/hostile/hostile_verdict.h"

namespace lab::grading {

/// The suite that hostile hand-ins are graded by.
struct HostileSuite {
  std::string corpus;         ///< grading/hostile
  std::string source, build;  ///< absolute
  bool isolated = true;       ///< false: with --no-sandbox
  std::uint64_t seed = 7;
};

/// Grades an entry as an instructor does, with `labgrade grade` in a process of its own, among things that it must
/// leave alone, and looks at what is left. `lab_folder`: "a9_collectives".
/// Call      from the main thread of a process without other children
/// Errors    UsageError: the hand-in cannot be made
HostileVerdict grade_hostile(const HostileEntry& entry, const std::string& lab_folder, const HostileSuite& suite);

}  // namespace lab::grading
