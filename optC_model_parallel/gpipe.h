#pragma once

#include <ATen/ATen.h>

#include "common/api/point_to_point.h"
#include "common/api/stage_work.h"

namespace lab::optc {

/// optC.gpipe. One batch through the pipeline: every micro-batch forward, then every micro-batch backward. Rank r is
/// stage r. Outputs go to the next rank, gradients of inputs to the previous one.
/// Call      collective, blocking; work.forward(0, i, input) with an undefined input on the first stage, and
///           work.backward(0, i, output_grad) with an undefined output_grad on the last
/// Shapes    buffers(stage, micro_batch): an empty tensor for the input of `stage`; the gradient of a stage's
///           output has the shape of the next stage's input
/// Cost      num_micro_batches messages to each neighbour; idle (p-1)/(m+p-1) of the time
/// Source    GPipe, arXiv:1811.06965
void gpipe(pipeline::StageWork& work, PointToPoint& p2p, int num_micro_batches, const pipeline::Buffers& buffers);

}  // namespace lab::optc
