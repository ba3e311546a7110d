#pragma once

#include <string>

#include "common/checks/case.h"

namespace lab::a9 {

// How the named Transformer case ends on num_ranks ranks with the given call in place of its task's.

/// Every rank matches and keeps within its bounds.
bool passes(const std::string& case_name, const TaskCall& call, int num_ranks = 4);
/// A rank finds numbers that differ from the expected ones; none throws.
bool differs(const std::string& case_name, const TaskCall& call, int num_ranks = 4);
/// The numbers are right on every rank, but a rank has sent too much, too little or by the wrong means.
bool is_over_budget(const std::string& case_name, const TaskCall& call, int num_ranks = 4);
/// A rank throws a ContractError, as for a wrong shape.
bool is_refused(const std::string& case_name, const TaskCall& call, int num_ranks = 4);

}  // namespace lab::a9
