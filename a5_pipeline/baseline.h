#pragma once

#include <vector>

#include "a5_pipeline/data_loader.h"
#include "a5_pipeline/model.h"

namespace lab::a5 {

/// Q4. Forward and backward of every micro-batch through the whole model, one after the other. The loss of a
/// micro-batch is the mean of its output; gradients add up over the micro-batches, undivided, in the model's weights.
/// Call      local, autograd inside
/// Returns   the outputs, one [B, S, H] per micro-batch in order, detached
/// Aliasing  fills model.gradients()
std::vector<at::Tensor> baseline_forward_backward(const Model& model, DataLoader& data,
                                                  const PipelineArguments& arguments);

}  // namespace lab::a5
