#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "a5_pipeline/model.h"
#include "common/api/compare.h"

namespace lab::a5 {

/// ||actual - expected|| <= tolerance * ||expected||, which does not depend on the tensors' scale; an absolute
/// tolerance accepts anything where the values are small. For tensors that differ by a rounding or two:
///     float32   1e-6, about 8 times its epsilon (1.2e-7)
///     float64   1e-12
///     bfloat16  2^-7, its epsilon
Tolerance tolerance_of(at::ScalarType dtype);

/// The same for outputs and gradients of this whole model, computed twice with sums in any two orders, as by other
/// kernels or another number of threads: a multiple of the difference expected from rounding
/// (see model/comparisons.cpp), and at most 1/4, beyond which a comparison shows nothing.
/// Example   the defaults: 4e-5; in float64 7.5e-14; in bfloat16 0.035
Tolerance tolerance_of(const PipelineArguments& arguments);

/// Q9. Whether the pipeline's outputs match the baseline's, micro-batch by micro-batch; nullopt on a rank
/// that has none.
/// Call      local
/// Shapes    both one [B, S, H] per micro-batch, in order
/// Returns   false also if the number of outputs differs, or a baseline output is all zeros: equal zeros prove nothing
/// Aliasing  leaves outputs and baseline as they are
std::optional<bool> outputs_match(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& baseline,
                                  const Tolerance& tolerance, int pp_rank, int pp_size);

/// Q10. For each weight that this stage has, whether its gradient matches the baseline's.
/// Call      local
/// Shapes    gradients: the stage's own, by "layer3.fc1"; an undefined one is missing, and does not match;
///           baseline: those of the whole model, under the same names
/// Returns   a verdict for each of the stage's weights and no other; false also if the baseline's is all zeros
/// Aliasing  leaves gradients and baseline as they are
/// Errors    ContractError: the baseline lacks one of the stage's weights (checked before your code)
std::map<std::string, bool> gradients_match(const TensorMap& gradients, const TensorMap& baseline,
                                            const Tolerance& tolerance);

}  // namespace lab::a5
