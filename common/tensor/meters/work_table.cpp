#include "common/tensor/meters/work_table.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

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

namespace {

struct Family {
  const char* operators;  // each with its in-place form, as far as it has one
  std::function<std::int64_t(WorkArguments)> flops;
};

std::int64_t nothing(WorkArguments /*arguments*/) {
  return 0;
}

/// where() of a condition alone is indexing.
std::int64_t chosen_elements(WorkArguments arguments) {
  return arguments.size() < 3 ? 0 : Elementwise{0, 3}(arguments);
}

std::vector<Family> families() {
  return {
      {"mm bmm mv dot vdot", products},
      {"addmm baddbmm addmv _addmm_activation", products_and_addend},
      {"addbmm", summed_products_and_addend},
      {"addr", outer_product_and_addend},
      {"mkldnn_linear", linear},

      {"convolution _convolution convolution_overrideable", convolution},
      {"mkldnn_convolution", BackendConvolution{2, 4, 3, 5}},
      {"_nnpack_spatial_convolution", BackendConvolution{2, 4, 3}},
      {"_slow_conv2d_forward slow_conv3d_forward", BackendConvolution{3, 4, 5}},
      {"slow_conv_dilated2d slow_conv_dilated3d _conv_depthwise2d conv_depthwise3d", BackendConvolution{3, 4, 5, 6}},
      {"cudnn_convolution", BackendConvolution{-1, 3, 2, 4}},
      {"convolution_backward convolution_backward_overrideable _slow_conv2d_backward", convolution_backward},

      {"_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention "
       "_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention",
       attention},
      {"_scaled_dot_product_flash_attention_for_cpu_backward _scaled_dot_product_flash_attention_backward "
       "_scaled_dot_product_efficient_attention_backward _scaled_dot_product_cudnn_attention_backward",
       attention_backward},

      // Element-wise: the result has the shape of the broadcast operands.
      {"neg abs reciprocal sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh "
       "asinh acosh atanh erf erfc erfinv lgamma digamma sinc sigmoid logit ceil floor round trunc frac "
       "relu elu leaky_relu threshold hardtanh hardsigmoid hardswish softplus softshrink hardshrink gelu silu mish "
       "log_sigmoid_forward prelu _prelu_kernel",
       Elementwise{0, 1}},
      {"add sub mul div pow atan2 hypot fmod remainder floor_divide maximum minimum fmax fmin xlogy "
       "logaddexp logaddexp2 clamp_min clamp_max",
       Elementwise{0, 2}},
      {"addcmul addcdiv lerp clamp", Elementwise{0, 3}},
      {"where", chosen_elements},
      {"sigmoid_backward tanh_backward logit_backward elu_backward leaky_relu_backward threshold_backward "
       "hardtanh_backward hardsigmoid_backward hardswish_backward softplus_backward softshrink_backward "
       "hardshrink_backward gelu_backward silu_backward mish_backward log_sigmoid_backward prelu_backward "
       "_prelu_kernel_backward",
       Elementwise{0, 2}},
      // A sigmoid and a product per element of the result, which is half the input.
      {"glu", Elementwise{0, 1}},
      {"glu_backward", Elementwise{1, 1}},

      // Reductions and scans: each element of the input enters one. `max` and `min` of two tensors are element-wise.
      {"sum nansum mean prod amax amin aminmax logsumexp norm linalg_vector_norm var std var_mean std_mean "
       "cumsum cumprod logcumsumexp",
       Elementwise{0, 1}},
      {"max min dist", Elementwise{0, 2}},
      {"embedding_dense_backward", Elementwise{0, 1}},
      {"scatter_add", Elementwise{2, 1}},
      {"index_add", Elementwise{3, 1}},

      // maximum, difference, exponential, sum; then the quotient, or the difference from the logarithm of the sum
      {"_softmax _log_softmax _masked_softmax", Elementwise{0, 1, 5}},
      // g*y, its sum, difference, *y; of the logarithm: sum of g, exp(y), product, difference
      {"_softmax_backward_data _log_softmax_backward_data _masked_softmax_backward", Elementwise{0, 1, 4}},

      // mean, difference, its square, their mean; * 1/std, * weight, + bias
      {"native_layer_norm native_group_norm native_batch_norm cudnn_batch_norm _native_batch_norm_legit "
       "_native_batch_norm_legit_no_training _batch_norm_with_update _batch_norm_no_update",
       Elementwise{0, 1, 7}},
      // the bias's sum; x^ again (2), g*x^ and its sum; g*weight, two sums and a product with x^ (4); two products, two
      // differences for the input's gradient. In full, whichever gradients are asked for.
      {"native_layer_norm_backward native_group_norm_backward native_batch_norm_backward batch_norm_backward",
       Elementwise{1, 1, 13}},

      // Random numbers, indices and masks, although LibTorch makes them of operators that count.
      {"multinomial masked_select one_hot isfinite isinf isclose", nothing},

      // One term per target.
      {"nll_loss_forward nll_loss2d_forward", Elementwise{1, 1}},
      {"nll_loss_backward nll_loss2d_backward", Elementwise{2, 1}},
      // difference, a function of it, sum; backward: difference, the function's derivative, times the gradient
      {"mse_loss smooth_l1_loss huber_loss binary_cross_entropy", Elementwise{0, 2, 3}},
      {"mse_loss_backward smooth_l1_loss_backward huber_loss_backward binary_cross_entropy_backward",
       Elementwise{1, 2, 3}},
  };
}

std::vector<WorkRow> make_table() {
  std::vector<WorkRow> table;
  for (const Family& family : families()) {
    std::istringstream names(family.operators);
    for (std::string name; names >> name;) {
      table.push_back({"aten::" + name, family.flops});
      table.push_back({"aten::" + name + "_", family.flops});
    }
  }
  return table;
}

std::unordered_map<std::string_view, int> make_index(const std::vector<WorkRow>& table) {
  std::unordered_map<std::string_view, int> index;
  for (const WorkRow& row : table) index.emplace(row.name, static_cast<int>(index.size()));
  TORCH_CHECK(index.size() == table.size(), "an operator is in the table of work twice");
  return index;
}

}  // namespace

const std::vector<WorkRow>& work_table() {
  static const std::vector<WorkRow> table = make_table();
  return table;
}

int find_work_row(const char* name) {
  static const std::unordered_map<std::string_view, int> index = make_index(work_table());
  const auto found = index.find(name);
  return found == index.end() ? -1 : found->second;
}

}  // namespace lab
