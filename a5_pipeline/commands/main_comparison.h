#pragma once

#include <string>

#include "a5_pipeline/arguments.h"
#include "a5_pipeline/commands/baseline_file.h"
#include "common/checks/lab_main.h"

namespace lab::a5 {

/// What the lab is told besides the common options.
struct LabOptions {
  PipelineArguments arguments;
  std::string dtype = "float32";
  std::string activation = "tanh";
  std::string schedule = "afab";
  bool no_cases = false;
  int num_chunks = 0;  ///< of layers on each rank; 0: as many as the schedule usually has
};

/// What Q9 and Q10 are for, at the size that the options say: runs the pipeline, by the handout's loop for afab,
/// otherwise by the schedule, then prints a match line for the outputs on the last rank, and for each layer's gradients
/// on the rank that has the layer.
/// Call      collective; rank 0 holds the baseline, the others get theirs of it as messages, a weight at a time
void compare_with_baseline(RankRun& run, const LabOptions& options, const BaselineFile& baseline);

}  // namespace lab::a5
