#pragma once

#include <vector>

#include "a5_pipeline/data_loader.h"
#include "a5_pipeline/pipeline_stage.h"
#include "common/api/point_to_point.h"

namespace lab::a5 {

/// Q8. This stage's part of the forward passes of all micro-batches, then of their backward passes, in one order on all
/// stages. The loss of a micro-batch is the mean of its output; gradients add up, undivided.
/// Call      collective, blocking, autograd inside each stage
/// Returns   on the last stage the outputs, one [B, S, H] per micro-batch in order, detached; elsewhere nothing
/// Aliasing  fills stage.model().gradients()
/// Cost      m messages to each neighbour, of one activation each; m live activations
/// Source    GPipe, arXiv:1811.06965, section 2.3
std::vector<at::Tensor> all_forward_all_backward(PipelineStage& stage, DataLoader& data,
                                                 const PipelineArguments& arguments, PointToPoint& p2p);

}  // namespace lab::a5
