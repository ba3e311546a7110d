#pragma once

#include <string>

#include "common/testing/case_runs.h"
#include "optC_model_parallel/cases/cases.h"

// What becomes of a case of tensor parallelism with a call of the test's own.
namespace lab::optc {

inline std::string verdict_of(const std::string& name, const TaskCall& call, int num_ranks = 4) {
  return testing::verdict(cases_of(tensor_sections()), name, call, num_ranks);
}

inline bool passes(const std::string& name, const TaskCall& call) {
  return verdict_of(name, call) == "passed";
}

/// It runs to its end, within its bounds or not, and some number is wrong.
inline bool differs(const std::string& name, const TaskCall& call) {
  return verdict_of(name, call) == "mismatch";
}

}  // namespace lab::optc
