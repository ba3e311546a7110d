#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "a5_pipeline/calls/trials.h"

// Trials for the comparisons of Q9 and Q10: right and wrong results, including wrong ones that a comparison with an
// absolute tolerance accepts.
namespace lab::a5 {

struct JudgedOutputs {
  std::string what;
  OutputsTrial trial;
  std::int64_t right_verdict = 0;  ///< 1 match, 0 no match, -1 no verdict
};

std::vector<JudgedOutputs> outputs_trials(std::uint64_t seed);

struct JudgedGradients {
  std::string what;
  GradientsTrial trial;
  std::map<std::string, std::int64_t> right_verdicts;  ///< of each gradient; -2: ContractError
};

std::vector<JudgedGradients> gradients_trials(std::uint64_t seed);

}  // namespace lab::a5
