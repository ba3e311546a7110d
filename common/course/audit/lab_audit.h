#pragma once

#include <set>
#include <string>
#include <vector>

namespace lab {

/// What of a lab's compiled files the grading would refuse, or somebody would have to look at first.
struct LabAudit {
  std::vector<std::string> lines;  ///< "a9_collectives/student/x.cpp:5: fork: student code must not use it; ..."
  std::set<std::string> refused;   ///< files, from the tree's root
};

/// Of the lab's objects in build/release, without those whose file is no longer there.
/// Errors    UsageError: an object that cannot be read
LabAudit audit_lab(const std::string& root, const std::string& lab);

}  // namespace lab
