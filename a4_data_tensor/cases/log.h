#pragma once

#include "common/log/log_expectation.h"

namespace lab::a4 {

/// Every line that a right run with the default options prints on so many ranks.
LogExpectation expected_log(int num_ranks);

// The handout's sentences, shared by the program and the expectation.
constexpr const char* kBaselineSentence =
    "Compute the updated matrix which should be different from the initial weight matrix.";
constexpr const char* kAccumulationSentence = "Compute the updated weight using batch accumulation. They should match.";
constexpr const char* kDataParallelSentence = "Compute the updated weight using data parallelism.";
constexpr const char* kColumnParallelSentence =
    "Compute the updated weight using tensor parallelism (FullColumnParallelLinear).";
constexpr const char* kFurtherSentence =
    "Beyond the handout: the update by hand, exact data, gradients of the input, bias, row parallel, column and row.";

}  // namespace lab::a4
