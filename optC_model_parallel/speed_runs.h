#pragma once

#include <cstdint>

#include "optC_model_parallel/training_options.h"

// Training steps on generated images, in processes with one thread each, to measure how fast they are.
namespace lab::optc {

struct SpeedRun {
  TrainingOptions training;
  PipelineOptions pipeline;
  int num_stages = 1;          ///< a process each; 1: single_process(), each batch as a whole
  std::int64_t num_steps = 8;  ///< that are timed, after one that is not
  double timeout_seconds = 300;
};

/// From a barrier before the first timed step to the end of the last rank.
/// Call      the process has no thread pool yet
/// Errors    those of check_pipeline(); raises what a rank failed with
double images_per_second(const SpeedRun& run);

}  // namespace lab::optc
