#pragma once

#include "a4_data_tensor/cases/cases.h"
#include "common/checks/case.h"

// What a rank may compute in each task. b: batch, i and o: input and output dim, P: ranks. Products are counted exactly,
// 2 b i o each; element-wise operators (loss, bias, update, sums of gradients) with a generous number per element.
namespace lab::a4 {

/// Forward and the weight's gradient on b/P rows:                    4 b i o / P
/// Then the loss of these rows, and an update of the whole weight.
std::function<ShareBound(const CasePlace&)> data_parallel_work(const SizesFor& sizes_for);

/// The same on o/P columns:                                          4 b i o / P
/// Then the loss of the whole output, and an update of these columns.
std::function<ShareBound(const CasePlace&)> column_step_work(const SizesFor& sizes_for);

/// `num_products` products of the size of a layer's forward pass on its rows, shared by all ranks; and its
/// element-wise operators, on the whole input, output and weight at most; or on those of all ranks, to add them up.
///           column, row: forward and two gradients                  6 b i o / P
///           column and row, one after the other                    12 b i o / P
std::function<ShareBound(const CasePlace&)> layer_work(const SizesFor& sizes_for, std::int64_t num_products);

}  // namespace lab::a4
