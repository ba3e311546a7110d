#pragma once

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
};

/// The handout's four parts, in its order: Baseline, Accumulation, DataParallel, FullColumnParallel. Results: W, and
/// the baseline's initial and updated.
std::vector<Case> handout_cases(const LabSizes& sizes);

/// What the handout's check misses: integers whose sums are exact, gradients with respect to the input, bias,
/// row parallel, and the column-row pair limited to one all_reduce each way.
std::vector<Case> further_cases(const LabSizes& sizes);

/// The same on other sizes, with another learning rate and other steps than the handout's; a run does not print them.
std::vector<Case> other_sizes_cases();

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
