#pragma once

#include "a9_collectives/transformer.h"
#include "common/rank/task_call.h"

namespace lab::a9 {

/// Task id -> student function.
CallTable calls();

/// The block that a case describes with its numbers and "weight." tensors.
BasicTransformerBlock block_of(const CaseInputs& inputs);

/// Makes the whole weights that the block has shards of unusable: reading one gives NaN.
void poison_sharded_weights(const BasicTransformerBlock& block);

/// Adds the gradients of all parameters to the results as "<name>.grad"; undefined where none arrived.
void add_gradients(const TensorMap& parameters, TensorMap& results);

}  // namespace lab::a9
