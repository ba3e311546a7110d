#pragma once

#include <functional>
#include <vector>

#include "a4_data_tensor/calls/calls.h"
#include "a4_data_tensor/step.h"
#include "common/checks/graded_lab.h"
#include "common/checks/lab_step.h"

namespace lab::a4 {

/// The sizes that can be set on the command line.
struct LabSizes {
  StepOptions step;
  std::int64_t accumulation_steps = 4;
  std::int64_t layer_batch = 12;  ///< of a layer alone; few world sizes divide it: tensor parallelism does not split it
  bool random_layers = false;     ///< a layer alone works on random numbers, not on integers whose sums are exact
};

/// The sizes that a case has on a number of ranks.
using SizesFor = std::function<LabSizes(int num_ranks)>;

/// The handout's four parts, in its order: Baseline, Accumulation, DataParallel, FullColumnParallel. Results: W, and
/// the baseline's initial and updated. Skipped where the number of ranks does not divide what is split.
std::vector<Case> handout_cases(const LabSizes& sizes);
std::vector<Case> handout_cases_for(const SizesFor& sizes_for);

/// What the handout's check misses: integers whose sums are exact, gradients with respect to the input, bias,
/// row parallel, and the column-row pair limited to one all_reduce each way.
std::vector<Case> further_cases(const LabSizes& sizes);
/// Of these, the layers: InputGrad, Bias, RowParallel, ColumnRow.
std::vector<Case> layer_cases_for(const SizesFor& sizes_for);

/// The same layers used twice before they go backward, without bounds.
std::vector<Case> twice_cases_for(const SizesFor& sizes_for);

/// g by itself, which the layers use on a tensor of their own; f, the gather and g on random numbers, on tensors that are
/// not contiguous, and each called three times before they go backward.
std::vector<Case> unprinted_function_cases();

/// What a run does not print: the functions as above; all on other sizes, with another learning rate and other steps
/// than the handout's, for any number of ranks; and on sizes at which it shows what a rank holds, and
/// whether ranks compute at the same time.
std::vector<Case> unprinted_cases();

/// All of them, the handout's first.
std::vector<Case> all_cases(const LabSizes& sizes);
/// With the default sizes.
std::vector<Case> all_cases();

/// The updated weight by hand: weight - lr * 2 / (batch * out) * X^T (X W - Y).
at::Tensor updated_by_hand(const StepOptions& options);

/// The program: the handout's lines, then what its checks miss.
std::vector<LabStep> program_steps(const LabSizes& sizes);

/// The lines of a right run with the default sizes.
log::LogExpectation expected_log(int num_ranks);

/// For the judge.
GradedLab graded_lab();

}  // namespace lab::a4
