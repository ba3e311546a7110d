#pragma once

#include <vector>

#include "a5_pipeline/comparisons.h"
#include "common/api/tensor_map.h"
#include "common/rank/task_call.h"

// What the comparisons of Q9 and Q10 are given, and how it travels in a case's inputs.
namespace lab::a5 {

/// The arguments of one call of outputs_match().
struct OutputsTrial {
  std::vector<at::Tensor> outputs;  ///< of one shape; may be empty
  std::vector<at::Tensor> baseline;
  int pp_rank = 3;
  int pp_size = 4;
  Tolerance tolerance = tolerance_of(at::kFloat);  ///< of the norm
};

/// Trial i as "input.trial<i>.outputs" and ".baseline", stacked, ".stage": its rank and the number of stages, and
/// ".tolerance".
CaseInputs inputs_of_trials(const std::vector<OutputsTrial>& trials);

/// Reads the trials that inputs_of_trials() wrote.
std::vector<OutputsTrial> make_outputs_trials(const CaseInputs& inputs);

/// The arguments of one call of gradients_match().
struct GradientsTrial {
  TensorMap gradients;  ///< one that never arrived is undefined
  TensorMap baseline;
  Tolerance tolerance = tolerance_of(at::kFloat);  ///< of the norm
};

/// Whether gradients_match() must refuse it.
bool baseline_lacks_weight(const GradientsTrial& trial);

/// Trial i as "input.trial<i>.gradient.<name>", ".baseline.<name>" and ".tolerance". An undefined tensor is sent as an
/// empty one.
CaseInputs inputs_of_trials(const std::vector<GradientsTrial>& trials);

/// Reads the trials that inputs_of_trials() wrote.
std::vector<GradientsTrial> make_gradients_trials(const CaseInputs& inputs);

}  // namespace lab::a5
