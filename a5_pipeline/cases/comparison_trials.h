#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/tensor/tensor_map.h"

// Trials for the comparisons of Q9 and Q10: right and wrong results, including wrong ones that a comparison with an
// absolute tolerance accepts.
namespace lab::a5 {

struct OutputsTrial {
  std::string what;
  std::vector<at::Tensor> outputs;
  std::vector<at::Tensor> baseline;
  int pp_rank = 3;
  int pp_size = 4;
  std::int64_t right_verdict = 0;  ///< 1 match, 0 no match, -1 no verdict
};

std::vector<OutputsTrial> outputs_trials(std::uint64_t seed);

struct GradientsTrial {
  std::string what;
  TensorMap gradients;
  TensorMap baseline;
  std::map<std::string, std::int64_t> right_verdicts;
};

std::vector<GradientsTrial> gradients_trials(std::uint64_t seed);

}  // namespace lab::a5
