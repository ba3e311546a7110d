#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "common/api/partition.h"

namespace lab::optc {

/// optC.micro_batches. Which images of a batch each micro-batch has: consecutive ones, as evenly as possible; if the
/// batch does not divide, the last ones are one image smaller. Always num_micro_batches of them: with fewer images, the
/// last ones are empty.
/// Call      local
/// Errors    ContractError: a number of micro-batches below 1 (checked before your code)
/// Example   29 images in 4: 8 7 7 7; 2 images in 4: 1 1 0 0
std::vector<Slice> micro_batches(std::int64_t batch_size, std::int64_t num_micro_batches);

/// optC.micro_batch_loss. What a micro-batch adds to the mean cross-entropy of the whole batch: the parts of all
/// micro-batches, including uneven and empty ones, sum to it, and so do their gradients.
/// Call      local, differentiable
/// Shapes    logits [b, 10], labels [b] int64; out a scalar of the logits' dtype
/// Example   one image of a batch of 4, all logits equal: log(10) / 4
at::Tensor micro_batch_loss(const at::Tensor& logits, const at::Tensor& labels, std::int64_t batch_size);

}  // namespace lab::optc
