#include "optC_model_parallel/tensor_cases.h"

#include <utility>

#include "optC_model_parallel/block_cases.h"
#include "optC_model_parallel/function_cases.h"
#include "optC_model_parallel/layer_cases.h"
#include "optC_model_parallel/tensor_training_cases.h"

namespace lab::optc {
namespace {

std::vector<Case> norm_section() {
  std::vector<Case> all = norm_cases();
  for (Case& the_case : norm_mlp_cases()) all.push_back(std::move(the_case));
  return all;
}

}  // namespace

std::vector<Section> tensor_sections() {
  return {
      {"Communication that autograd understands: what enters and leaves a region that ranks share, and sums within.",
       function_cases()},
      {"A linear layer whose neurons, or whose inputs, are spread over ranks.", linear_cases()},
      {"Linear, relu, linear, both layers spread over ranks.", mlp_cases()},
      {"LayerNorm of features that are spread over ranks, and the pair with it.", norm_section()},
      {"Columns, then rows: one round of communication for the two layers.", column_row_cases()},
      {"Attention whose heads are spread over ranks.", attention_cases()},
      {"A residual block of convolutions whose channels are spread over ranks.", residual_cases()},
      {"Short trainings with split layers, beside the same in one process.", tensor_training_cases()}};
}

}  // namespace lab::optc
