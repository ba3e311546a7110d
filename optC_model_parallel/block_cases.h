#pragma once

#include <vector>

#include "common/lab/case.h"

namespace lab::optc {

// Each block against Blocks of one process: outputs, gradients, running statistics.
std::vector<Case> mlp_cases();
std::vector<Case> norm_mlp_cases();
/// Both of them again, now held to what they may send: one round for two layers.
std::vector<Case> column_row_cases();
std::vector<Case> attention_cases();
std::vector<Case> residual_cases();

}  // namespace lab::optc
