#pragma once

#include "a4_data_tensor/cases/cases.h"
#include "common/checks/case.h"

// What a rank may send in each task, and must receive. P: ranks, n: bytes of a tensor on one rank.
//
//                              received, at least    sent, at most
//     a sum over the ranks     n                     the larger of two all-reduces, 4 (P-1)/P n, and all ranks' tensors
//                                                    gathered to be added up, (P-1) n
//     a gather of parts        (P-1) n               an all-reduce of the whole, with zeros for the others' parts,
//                                                    2 (P-1) n
//
// A sum may be an all_reduce, a reduce_scatter and an all_gather, or an all_gather and additions; n is rounded up to a
// multiple of P. A barrier costs nothing. Any other collective is none of these.
namespace lab::a4 {

/// One sum of this shape in float32, in f's backward pass.
CostBounds one_sum(const std::vector<std::int64_t>& shape);

/// One gather of parts of this shape in float32.
CostBounds one_gather(const std::vector<std::int64_t>& shape_of_part);

/// A sum of the weight's gradient; and of the loss, if somebody wants to see it.
CostBounds data_parallel_traffic(const SizesFor& sizes_for);

/// A gather of the updated weight. Also a gather of the output, a sum of the input's gradient and of the loss, none of
/// which is needed: a rank may compare its own columns with their targets.
CostBounds column_step_traffic(const SizesFor& sizes_for);

/// A gather of the output, a sum of the input's gradient.
CostBounds column_layer_traffic(const SizesFor& sizes_for);

/// g's contract says one all-reduce, or what sends no more: a sum as a reduce-scatter and an all-gather.
CostBounds one_all_reduce(const std::vector<std::int64_t>& shape);
CostBounds row_layer_traffic(const SizesFor& sizes_for);

/// g's, and f's sum. Also gathering the hidden features takes more calls.
CostBounds pair_traffic(const SizesFor& sizes_for);

}  // namespace lab::a4
