#include "common/tensor/work_formulas.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace lab {
namespace {

/// Null: not there, not a tensor, or undefined.
const at::Tensor* tensor_at(WorkArguments arguments, std::size_t place) {
  if (place >= arguments.size() || !arguments[place].isTensor()) return nullptr;
  const at::Tensor& tensor = arguments[place].toTensor();
  return tensor.defined() ? &tensor : nullptr;
}

/// From the right; 1: the tensor has fewer dims.
std::int64_t size_from_right(const at::Tensor& tensor, std::int64_t place) {
  return place < tensor.dim() ? tensor.size(tensor.dim() - 1 - place) : 1;
}

/// The shape of a product, with 1 where a vector has no dim.
struct Product {
  std::int64_t batch = 0;
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;

  std::int64_t flops() const { return 2 * batch * rows * inner * columns; }
};

/// `first`: the place of the left factor, [m, k] or [batch, m, k] or [k]; the right one follows.
Product product_at(WorkArguments arguments, std::size_t first) {
  const at::Tensor* a = tensor_at(arguments, first);
  const at::Tensor* b = tensor_at(arguments, first + 1);
  if (a == nullptr || b == nullptr) return {};
  return {size_from_right(*a, 2), size_from_right(*a, 1), size_from_right(*a, 0),
          b->dim() < 2 ? 1 : size_from_right(*b, 0)};
}

/// beta is what the addend is multiplied by; with 0 it is ignored.
bool adds(WorkArguments arguments, std::size_t place_of_beta) {
  if (place_of_beta >= arguments.size() || !arguments[place_of_beta].isScalar()) return true;
  const at::Scalar beta = arguments[place_of_beta].toScalar();
  return beta.isComplex() || beta.to<double>() != 0;
}

/// Batch times spatial positions of [N, C, ...].
std::int64_t num_positions(const at::Tensor& tensor) {
  std::int64_t num = 1;
  for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) num *= dim == 1 ? 1 : tensor.size(dim);
  return num;
}

/// One number per spatial dim, or one for all of them.
class PerDim {
 public:
  explicit PerDim(const c10::IValue& value) : numbers_(value.toIntVector()) {}
  std::int64_t operator[](std::int64_t dim) const {
    if (numbers_.empty()) return 0;
    return numbers_[std::min(static_cast<std::size_t>(dim), numbers_.size() - 1)];
  }

 private:
  const std::vector<std::int64_t> numbers_;
};

/// Batch times spatial positions of the result of a convolution that is not transposed.
std::int64_t num_output_positions(const at::Tensor& input, const at::Tensor& weight, const PerDim& stride,
                                  const PerDim& padding, const PerDim& dilation) {
  std::int64_t num = input.size(0);
  for (std::int64_t dim = 0; dim + 2 < input.dim(); ++dim) {
    const std::int64_t reach = std::max<std::int64_t>(dilation[dim], 1) * (weight.size(dim + 2) - 1);
    const std::int64_t last = input.size(dim + 2) + 2 * padding[dim] - reach - 1;  // where the kernel can start
    num *= last < 0 ? 0 : last / std::max<std::int64_t>(stride[dim], 1) + 1;
  }
  return num;
}

/// The same of a transposed one, from the arguments of aten::convolution.
std::int64_t num_transposed_positions(WorkArguments arguments, const at::Tensor& input, const at::Tensor& weight) {
  const PerDim stride(arguments[3]), padding(arguments[4]), dilation(arguments[5]), output_padding(arguments[7]);
  std::int64_t num = input.size(0);
  for (std::int64_t dim = 0; dim + 2 < input.dim(); ++dim) {
    num *= (input.size(dim + 2) - 1) * std::max<std::int64_t>(stride[dim], 1) - 2 * padding[dim] +
           dilation[dim] * (weight.size(dim + 2) - 1) + output_padding[dim] + 1;
  }
  return num;
}

bool are_convolved(const at::Tensor* input, const at::Tensor* weight) {
  return input != nullptr && weight != nullptr && input->dim() == weight->dim() && input->dim() > 2;
}

std::int64_t attention_flops(WorkArguments arguments, std::size_t first, std::int64_t num_of_query_width,
                             std::int64_t num_of_value_width) {
  const at::Tensor* query = tensor_at(arguments, first);
  const at::Tensor* key = tensor_at(arguments, first + 1);
  const at::Tensor* value = tensor_at(arguments, first + 2);
  if (query == nullptr || key == nullptr || value == nullptr) return 0;
  const std::int64_t num_heads = size_from_right(*query, 3) * size_from_right(*query, 2);
  const std::int64_t num_scores = num_heads * size_from_right(*query, 1) * size_from_right(*key, 1);
  return 2 * num_scores *
         (num_of_query_width * size_from_right(*query, 0) + num_of_value_width * size_from_right(*value, 0));
}

}  // namespace

std::int64_t Elementwise::operator()(WorkArguments arguments) const {
  std::int64_t num_dims = -1;
  for (std::size_t place = first; place < first + num; ++place) {
    if (const at::Tensor* tensor = tensor_at(arguments, place)) num_dims = std::max(num_dims, tensor->dim());
  }
  if (num_dims < 0) return 0;
  std::int64_t num_elements = 1;
  for (std::int64_t dim = 0; dim < num_dims; ++dim) {
    std::int64_t size = 1;
    for (std::size_t place = first; place < first + num; ++place) {
      const at::Tensor* tensor = tensor_at(arguments, place);
      if (tensor != nullptr && size_from_right(*tensor, dim) != 1) size = size_from_right(*tensor, dim);
    }
    num_elements *= size;
  }
  return per_element * num_elements;
}

std::int64_t products(WorkArguments arguments) {
  return product_at(arguments, 0).flops();
}

std::int64_t products_and_addend(WorkArguments arguments) {
  const Product product = product_at(arguments, 1);
  return product.flops() + (adds(arguments, 3) ? product.batch * product.rows * product.columns : 0);
}

std::int64_t summed_products_and_addend(WorkArguments arguments) {
  const Product product = product_at(arguments, 1);
  return product.flops() + (adds(arguments, 3) ? product.rows * product.columns : 0);
}

std::int64_t outer_product_and_addend(WorkArguments arguments) {
  const at::Tensor* column = tensor_at(arguments, 1);
  const at::Tensor* row = tensor_at(arguments, 2);
  if (column == nullptr || row == nullptr) return 0;
  return (adds(arguments, 3) ? 3 : 2) * column->numel() * row->numel();
}

std::int64_t linear(WorkArguments arguments) {
  const at::Tensor* input = tensor_at(arguments, 0);
  const at::Tensor* weight = tensor_at(arguments, 1);
  if (input == nullptr || weight == nullptr || weight->dim() != 2) return 0;
  const std::int64_t flops = 2 * input->numel() * weight->size(0);
  if (tensor_at(arguments, 2) == nullptr || input->dim() == 0 || input->size(-1) == 0) return flops;
  return flops + input->numel() / input->size(-1) * weight->size(0);
}

std::int64_t convolution(WorkArguments arguments) {
  const at::Tensor* input = tensor_at(arguments, 0);
  const at::Tensor* weight = tensor_at(arguments, 1);
  if (arguments.size() < 9 || !are_convolved(input, weight)) return 0;
  const bool transposed = arguments[6].toBool();
  const std::int64_t num_outputs = transposed ? num_transposed_positions(arguments, *input, *weight)
                                              : num_output_positions(*input, *weight, PerDim(arguments[3]),
                                                                     PerDim(arguments[4]), PerDim(arguments[5]));
  const std::int64_t flops = 2 * (transposed ? num_positions(*input) : num_outputs) * weight->numel();
  if (tensor_at(arguments, 2) == nullptr) return flops;
  const std::int64_t out_channels = transposed ? weight->size(1) * arguments[8].toInt() : weight->size(0);
  return flops + num_outputs * out_channels;
}

std::int64_t BackendConvolution::operator()(WorkArguments arguments) const {
  const at::Tensor* input = tensor_at(arguments, 0);
  const at::Tensor* weight = tensor_at(arguments, 1);
  if (!are_convolved(input, weight)) return 0;
  const auto numbers_at = [&](int place) {
    const bool there = place >= 0 && static_cast<std::size_t>(place) < arguments.size();
    return PerDim(there && arguments[place].isIntList() ? arguments[place] : c10::IValue(std::vector<std::int64_t>()));
  };
  const std::int64_t num_outputs =
      num_output_positions(*input, *weight, numbers_at(stride), numbers_at(padding), numbers_at(dilation));
  const bool has_bias = bias >= 0 && tensor_at(arguments, static_cast<std::size_t>(bias)) != nullptr;
  return num_outputs * (2 * weight->numel() + (has_bias ? weight->size(0) : 0));
}

std::int64_t convolution_backward(WorkArguments arguments) {
  const at::Tensor* grad_output = tensor_at(arguments, 0);
  const at::Tensor* input = tensor_at(arguments, 1);
  const at::Tensor* weight = tensor_at(arguments, 2);
  if (grad_output == nullptr || !are_convolved(input, weight)) return 0;
  const auto is_flag = [](const c10::IValue& value) { return value.isBool(); };
  const auto is_mask = [](const c10::IValue& value) { return value.isBoolList() && value.toBoolList().size() == 3; };
  const auto transposed = std::find_if(arguments.begin(), arguments.end(), is_flag);
  const auto mask = std::find_if(arguments.begin(), arguments.end(), is_mask);
  if (mask == arguments.end()) return 0;
  const bool is_transposed = transposed != arguments.end() && transposed->toBool();  // a backend's own: never
  const auto asked_for = mask->toBoolList();                                         // input, weight, bias
  const std::int64_t products = 2 * num_positions(is_transposed ? *input : *grad_output) * weight->numel();
  return (asked_for[0] ? products : 0) + (asked_for[1] ? products : 0) + (asked_for[2] ? grad_output->numel() : 0);
}

std::int64_t attention(WorkArguments arguments) {
  return attention_flops(arguments, 0, 1, 1);
}

std::int64_t attention_backward(WorkArguments arguments) {
  return attention_flops(arguments, 1, 3, 2);
}

}  // namespace lab
