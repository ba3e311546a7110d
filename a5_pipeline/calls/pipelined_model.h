#pragma once

#include <vector>

#include "a5_pipeline/arguments.h"
#include "common/comm/communicator.h"
#include "common/pipeline/schedule.h"
#include "common/tensor/tensor_map.h"

namespace lab::a5 {

/// The results of one rank of the pipeline.
struct PipelineResult {
  std::vector<at::Tensor> outputs;  ///< of all micro-batches in order, on the rank of the last stage; elsewhere empty
  TensorMap weights;                ///< of this rank's layers, by "layer3.fc1"
  TensorMap gradients;              ///< by the same names
};

/// The handout's pipeline: rank r is stage r, and all_forward_all_backward is its loop.
/// Call      collective, blocking
PipelineResult run_handout_pipeline(const PipelineArguments& arguments, Communicator& comm);

/// The same model with any schedule for this number of ranks and micro-batches.
/// Call      collective, blocking
PipelineResult run_scheduled_pipeline(const PipelineArguments& arguments, const pipeline::Schedule& schedule,
                                      Communicator& comm);

}  // namespace lab::a5
