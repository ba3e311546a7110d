#pragma once

#include "common/log/log_expectation.h"

namespace lab::a4 {

/// Every line that a correct run with the default options prints on `num_ranks` ranks.
LogExpectation expected_log(int num_ranks);

// The handout's messages, shared by the program and the expectation.
constexpr const char* kBaselineText =
    "Compute the updated matrix which should be different from the initial weight matrix.";
constexpr const char* kAccumulationText = "Compute the updated weight using batch accumulation. They should match.";
constexpr const char* kDataParallelText = "Compute the updated weight using data parallelism.";
constexpr const char* kColumnParallelText =
    "Compute the updated weight using tensor parallelism (FullColumnParallelLinear).";
constexpr const char* kFurtherText =
    "Beyond the handout: the update by hand, exact data, gradients of the input, bias, row parallel, column and row.";

}  // namespace lab::a4
