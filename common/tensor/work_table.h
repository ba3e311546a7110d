#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/tensor/work_formulas.h"

namespace lab {

/// The floating-point operations of one call of a LibTorch operator, from its arguments' shapes. All dtypes alike,
/// integers too.
/// Products      2 m k n for [m, k] x [k, n], times the batch; with an addend (addmm, a bias) one addition per element
///               of the result unless beta = 0, so that it counts as the product followed by aten::add does
/// Convolution   2 * positions of the result (transposed: of the input) * elements of the weight, and the bias's
///               additions. Backward: the same products for the input's gradient, and for the weight's, where asked
///               for; one addition per element of grad_output for the bias's. Padding is multiplied, too.
/// Attention     fused (LibTorch 2): as its two products, 2 B H Lq Lk (D + Dv); backward the five that recompute the
///               scores and give the gradients of values, weights, queries and keys: 2 B H Lq Lk (3 D + 2 Dv)
/// Element-wise  arithmetic, activations, their backward operators: 1 per element of the result
/// Reductions    sum, mean, amax, norm ...: 1 per element of the input
/// Others        softmax, normalisation, losses: a few per element, each explained in the table
/// Not counted   copies, views, fills, random numbers, indexing, sorting, comparisons, logic; and what is simply not
///               in the table: pooling, interpolation, recurrent layers, FFT, matrix decompositions
struct WorkRow {
  std::string name;  ///< as LibTorch records it, without overload: "aten::add_"
  std::function<std::int64_t(WorkArguments arguments)> flops;
};

/// Every operator that is counted, of LibTorch 1.13 and 2; the order has no meaning. Arguments that the operator itself
/// would refuse have some count, without an error.
const std::vector<WorkRow>& work_table();

/// The place in work_table() of an operator's name; -1: not counted.
int work_row_of(const char* name);

}  // namespace lab
