#pragma once

#include <string>
#include <vector>

#include "common/checks/case.h"

namespace lab {

/// True if the name refers to this case: "BroadcastLarge", or its task's "a9.broadcast" or "broadcast".
bool is_named(const Case& test_case, const std::string& name);

/// The cases that the name refers to, in order. `word` is the subcommand that was given the name, such as `run`.
/// Errors    UsageError: there is none
std::vector<Case> named_cases(const std::vector<Case>& cases, const std::string& name, const std::string& word);

/// The cases of one task, by its id, in order; may be empty.
std::vector<Case> cases_of_task(const std::vector<Case>& cases, const std::string& task);

/// Each task's id once, in the order of the cases.
std::vector<std::string> tasks_of(const std::vector<Case>& cases);

}  // namespace lab
