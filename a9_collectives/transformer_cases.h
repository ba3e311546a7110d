#pragma once

#include <vector>

#include "common/lab/case.h"

namespace lab::a9 {

/// The handout's checks of the transformer: TensorParallelShards, TensorParallel and Ulysses, at its sizes in float32
/// and with 8 heads in float64, and OwnCollectives. What does not divide by the number of ranks is skipped.
std::vector<Case> transformer_cases();

/// Beyond the handout: gradients. ParallelFunctions on exact data, TensorParallelGrad, UlyssesGrad.
std::vector<Case> transformer_gradient_cases();

}  // namespace lab::a9
