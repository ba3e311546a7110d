#pragma once

#include <string>

#include "common/testing/case_runs.h"
#include "optC_model_parallel/cases/cases.h"

// The verdict on a case of tensor parallelism with the test's own call.
namespace lab::optc {

inline std::string verdict_of(const std::string& name, const TaskCall& call, int num_ranks = 4) {
  return testing::verdict(cases_of(tensor_sections()), name, call, num_ranks);
}

inline bool passes(const std::string& name, const TaskCall& call) {
  return verdict_of(name, call) == "passed";
}

/// The case runs to its end, within its bounds or not, and some number is wrong.
inline bool differs(const std::string& name, const TaskCall& call) {
  return verdict_of(name, call) == "mismatch";
}

}  // namespace lab::optc
