#pragma once

#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>

#include <cstddef>
#include <cstdint>

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
