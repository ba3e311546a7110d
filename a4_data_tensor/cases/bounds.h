#pragma once

#include <fmt/format.h>

#include "a4_data_tensor/cases/cases.h"
#include "common/checks/case.h"

// What a rank may send, compute and hold in each task, and which sizes divide.
namespace lab::a4 {

/// Case::skip_reason of a case that splits this size over the ranks.
inline std::function<std::string(int num_ranks)> if_not_divided(const SizesFor& sizes_for,
                                                                std::int64_t StepOptions::*size) {
  return [=](int num_ranks) -> std::string {
    const std::int64_t whole = sizes_for(num_ranks).step.*size;
    return whole % num_ranks == 0 ? "" : fmt::format("{} does not divide by {} ranks", whole, num_ranks);
  };
}

/// Of what all ranks share, rounded up.
inline std::int64_t share_of_rank(std::int64_t whole, const CasePlace& place) {
  return (whole + place.size - 1) / place.size;
}

// What a rank may send in each task, and must receive. P: ranks, n: bytes of a tensor on one rank.
//
//                              received, at least    sent, at most
//     a sum over the ranks     n                     the larger of two all-reduces, 4 (P-1)/P n, and all ranks' tensors
//                                                    gathered to be added up, (P-1) n
//     a gather of parts        (P-1) n               an all-reduce of the whole, with zeros for the others' parts,
//                                                    2 (P-1) n
//
// A sum may be an all_reduce, a reduce_scatter and an all_gather, or an all_gather and additions; n is rounded up to a
// multiple of P. A barrier costs nothing. Any other collective is none of these. Each tensor takes one call.

using Shapes = std::vector<std::vector<std::int64_t>>;

/// A sum of each of these shapes in float32, in f's backward pass.
CostBounds sum_bounds(const Shapes& shapes);

/// A gather of parts of each of these shapes in float32.
CostBounds gather_bounds(const Shapes& shapes_of_parts);

/// A sum of the weight's gradient; and of the loss, if somebody wants to see it.
CostBounds data_parallel_traffic(const SizesFor& sizes_for);

/// A gather of the updated weight. Also a gather of the output, a sum of the input's gradient and of the loss, none of
/// which is needed: a rank may compare its own columns with their targets.
CostBounds column_step_traffic(const SizesFor& sizes_for);

/// A gather of the output, a sum of the input's gradient.
CostBounds column_layer_traffic(const SizesFor& sizes_for);

/// g's contract says one all-reduce, or what sends no more: a sum as a reduce-scatter and an all-gather.
CostBounds all_reduce_bounds(const Shapes& shapes);
CostBounds row_layer_traffic(const SizesFor& sizes_for);

/// g's, and f's sum. Also gathering the hidden features takes more calls.
CostBounds pair_traffic(const SizesFor& sizes_for);

// What a rank may compute in each task. b: batch, i and o: input and output dim, P: ranks. Products are 2 b i o each, and
// three fifths more are allowed; element-wise operators (loss, bias, update, sums of gradients) have a generous number per
// element.

/// Forward and the weight's gradient on b/P rows:                    4 b i o / P
/// Then the loss of these rows, and an update of the whole weight.
std::function<ShareBound(const CasePlace&)> data_parallel_work(const SizesFor& sizes_for);

/// Forward and the weight's gradient of every row once:              4 b i o
/// Then the loss of these rows, an update, and m sums of gradients.
std::function<ShareBound(const CasePlace&)> accumulation_work(const SizesFor& sizes_for);

/// The same on o/P columns:                                          4 b i o / P
/// Then the loss of the whole output, and an update of these columns.
std::function<ShareBound(const CasePlace&)> column_step_work(const SizesFor& sizes_for);

/// `num_products` products of the size of a layer's forward pass on its rows, shared by all ranks; and its
/// element-wise operators, on the whole input, output and weight at most; or on those of all ranks, to add them up.
///           column, row: forward and two gradients                  6 b i o / P
///           column and row, one after the other                    12 b i o / P
std::function<ShareBound(const CasePlace&)> layer_work(const SizesFor& sizes_for, std::int64_t num_products);

// What a rank may hold at a time, of tensors made during the call, in float32. b: batch, i and o: input and output dim,
// P: ranks. Weights are counted with what a step makes of them: a copy, the gradient, and one of both on the way.
// Activations are small tensors of several kinds: generously many of each.

/// The batch and the weight as they are drawn, with the step's copies of the weight; and activations of two micro-batches.
/// One process holds those of the whole batch:
///     b (i + o) + 5 i o + 2 (2 i + 6 o) b/m,  m: micro-batches
std::function<ShareBound(const CasePlace&)> accumulation_memory(const SizesFor& sizes_for);

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

/// How long all ranks may take where work takes long against messages: for all that the case's bounds let a rank compute
/// and send, one after the other. Ranks that compute in turns take the time of P times the work.
std::function<TimeBound(int size, std::uint64_t seed)> time_of_own_part(const Case& bounded);

}  // namespace lab::a4
