#pragma once

#include <string>
#include <vector>

#include "a5_pipeline/arguments.h"
#include "a5_pipeline/commands/baseline_file.h"
#include "common/checks/lab_step.h"

namespace lab::a5 {

/// The lab's options besides the common ones.
struct LabOptions {
  PipelineArguments arguments;
  std::string dtype = "float32";
  std::string activation = "tanh";
  std::string schedule = "afab";
  bool no_cases = false;
  int num_chunks = 0;  ///< of layers on each rank; 0: the schedule's usual number
};

/// The comparison of Q9 and Q10 at the sizes in the options: runs the pipeline, with the handout's loop for afab,
/// otherwise with the schedule, then prints a match line for the outputs on the last rank, and for each layer's
/// gradients on the rank that has the layer.
/// Call      collective; rank 0 holds the baseline, the others receive their part of it, one weight at a time
void compare_with_baseline(RankRun& run, const LabOptions& options, const BaselineFile& baseline);

/// The program: the small cases (unless --no-cases), with the baseline and the comparison between them. Rank 0 fills in
/// `baseline`, if it is empty, while the others wait. Both arguments must outlive the steps.
std::vector<LabStep> program_steps(const LabOptions& options, BaselineFile& baseline);

}  // namespace lab::a5
