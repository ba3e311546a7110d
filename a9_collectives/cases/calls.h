#pragma once

#include "a9_collectives/transformer.h"
#include "common/checks/case.h"

namespace lab::a9 {

/// Task id -> student function, of the transformer's tasks.
CallTable transformer_calls();

/// The block that a case describes by its numbers and "weight." tensors.
BasicTransformerBlock block_of(const CaseInputs& inputs);

/// Makes the whole weights unusable of which the block has shards: whoever still reads one gets NaN.
void poison_sharded_weights(const BasicTransformerBlock& block);

/// The gradients of all parameters as results, under "<name>.grad"; undefined where none arrived.
void add_gradients(const TensorMap& parameters, TensorMap& results);

/// Task id -> student function, of the five collectives and their algorithms.
CallTable collective_calls();

/// Task id -> student function, of the whole lab.
CallTable calls();

}  // namespace lab::a9
