#include "common/tensor/work_table.h"

#include <ATen/ATen.h>

#include <sstream>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace lab {
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

int work_row_of(const char* name) {
  static const std::unordered_map<std::string_view, int> index = make_index(work_table());
  const auto found = index.find(name);
  return found == index.end() ? -1 : found->second;
}

}  // namespace lab
