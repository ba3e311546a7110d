#pragma once

#include "a4_data_tensor/cases/cases.h"
#include "common/checks/case.h"

// What a rank may hold at a time, of tensors made during the call, in float32. b: batch, i and o: input and output dim,
// P: ranks. Weights are counted with what a step makes of them: a copy, the gradient, and one of both on the way.
// Activations are small tensors of several kinds: generously many of each.
namespace lab::a4 {

/// The batch and the weight, which create_batch() and initial_weight() draw whole on every rank, and a copy of the
/// weight; then all ranks' gradients, gathered and stacked, at worst; and activations of b/P rows:
///     b (i + o) + (5 + 2 P) i o + (2 i + 6 o) b/P
std::function<ShareBound(const CasePlace&)> data_parallel_memory(const SizesFor& sizes_for);

/// The batch and the weight as they are drawn, and the result, gathered and joined; four times o/P columns; activations
/// of the whole output:
///     b (i + o) + 3 i o + 4 i o/P + (2 i + 8 o) b
std::function<ShareBound(const CasePlace&)> column_step_memory(const SizesFor& sizes_for);

/// A layer that is given its weight: four times 1/P of the elements of all weights; the input and the output, each up to
/// eight times, and from all ranks, gathered and stacked to be added up:
///     4 w/P + (8 + 2 P) b (i + o)
std::function<ShareBound(const CasePlace&)> layer_memory(const SizesFor& sizes_for, std::int64_t num_weights);

}  // namespace lab::a4
