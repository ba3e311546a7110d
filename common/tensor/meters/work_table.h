#pragma once

#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// The floating-point operations of one call, from all its arguments in the order of the operator's schema. The sums
// that they stand for: work_table.h. Shapes that the operator would refuse have some count, without an error.
namespace lab {

using WorkArguments = c10::ArrayRef<const c10::IValue>;

/// `per_element` for each element of the broadcast of `num` arguments, the first of which is `first`. Numbers among
/// them, missing and undefined tensors have no shape.
struct Elementwise {
  std::size_t first;
  std::size_t num;
  std::int64_t per_element = 1;

  std::int64_t operator()(WorkArguments arguments) const;
};

std::int64_t products(WorkArguments arguments);                    ///< a, b
std::int64_t products_and_addend(WorkArguments arguments);         ///< addend, a, b, beta, alpha
std::int64_t summed_products_and_addend(WorkArguments arguments);  ///< the same; the batch is summed
std::int64_t outer_product_and_addend(WorkArguments arguments);    ///< addend, column, row, beta, alpha
std::int64_t linear(WorkArguments arguments);                      ///< input [..., k], weight [n, k], bias

/// input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
std::int64_t convolution(WorkArguments arguments);
/// grad_output, input, weight, sizes of the bias (not in every operator), ..., transposed, ..., output_mask
/// A backend's own convolution, called directly: input, weight, and where the other arguments are; -1: there is none.
struct BackendConvolution {
  int bias = -1, stride = -1, padding = -1, dilation = -1;
  std::int64_t operator()(WorkArguments arguments) const;
};
std::int64_t convolution_backward(WorkArguments arguments);

std::int64_t attention(WorkArguments arguments);           ///< query [B, H, Lq, D], key, value [B, H, Lk, Dv]
std::int64_t attention_backward(WorkArguments arguments);  ///< grad_output, query, key, value

}  // namespace lab

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
int find_work_row(const char* name);

}  // namespace lab
