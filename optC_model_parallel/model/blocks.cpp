#include "optC_model_parallel/model/blocks.h"

#include <cmath>
#include <iterator>

namespace lab::optc {
namespace {

at::Tensor serial_mlp(const at::Tensor& x, const Tensors& tensors) {
  return at::linear(at::relu(at::linear(x, tensors[0], tensors[1])), tensors[2], tensors[3]);
}

at::Tensor serial_norm_mlp(const at::Tensor& x, const Tensors& tensors) {
  at::Tensor h = at::linear(x, tensors[0], tensors[1]);
  h = at::layer_norm(h, {h.size(-1)}, tensors[2], tensors[3], kNormEpsilon);
  return at::linear(at::relu(h), tensors[4], tensors[5]);
}

at::Tensor serial_attention(const at::Tensor& x_BSD, const Tensors& tensors, std::int64_t head_dim) {
  const auto heads = [&](std::size_t which) {  // [B, heads, S, head_dim]
    const at::Tensor all = at::linear(x_BSD, tensors[which], tensors[which + 3]);
    return all.reshape({all.size(0), all.size(1), all.size(2) / head_dim, head_dim}).transpose(1, 2);
  };
  const double scale = 1 / std::sqrt(static_cast<double>(head_dim));
  // Of the factors, q is the small one to scale: S * head_dim numbers a head, not S * S.
  const at::Tensor weights = at::softmax(at::matmul(heads(0) * scale, heads(1).transpose(2, 3)), -1);
  const at::Tensor mixed = at::matmul(weights, heads(2)).transpose(1, 2).flatten(2);
  return at::linear(mixed, tensors[6], tensors[7]);
}

at::Tensor serial_residual(const at::Tensor& x, const Tensors& tensors, Mode mode) {
  const at::Tensor no_bias;
  at::Tensor h = at::conv2d(x, tensors[0], no_bias, /*stride=*/1, /*padding=*/1);
  h = at::batch_norm(h, tensors[1], tensors[2], tensors[3], tensors[4], mode == Mode::kTraining, kBatchNormMomentum,
                     kNormEpsilon, /*cudnn_enabled=*/false);
  return at::conv2d(at::relu(h), tensors[5], tensors[6], /*stride=*/1, /*padding=*/1);
}

}  // namespace

Blocks serial_blocks() {
  return {serial_mlp, serial_norm_mlp, serial_attention, serial_residual};
}

std::vector<ParameterSpec> weight_and_bias(const std::string& name, const std::vector<std::int64_t>& shape, Fill fill) {
  const std::int64_t out = shape.front(), fan_in = c10::multiply_integers(shape) / out;
  return {{name + ".weight", shape, fill, fan_in},
          {name + ".bias", {out}, fill == Fill::kHe ? Fill::kZeros : fill, fan_in}};
}

std::vector<ParameterSpec> norm_parameters(const std::string& name, std::int64_t width) {
  return {{name + ".weight", {width}, Fill::kOnes}, {name + ".bias", {width}, Fill::kZeros}};
}

std::vector<ParameterSpec> split_by_rows(std::vector<ParameterSpec> parameters, std::int64_t unit) {
  for (ParameterSpec& spec : parameters) {
    spec.split_dim = 0;
    spec.split_unit = unit;
  }
  return parameters;
}

std::vector<ParameterSpec> split_by_columns(std::vector<ParameterSpec> parameters) {
  for (ParameterSpec& spec : parameters) spec.split_dim = spec.shape.size() > 1 ? 1 : -1;
  return parameters;
}

std::vector<ParameterSpec> joined(std::vector<std::vector<ParameterSpec>> parts) {
  std::vector<ParameterSpec> all;
  for (std::vector<ParameterSpec>& part : parts)
    all.insert(all.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
  return all;
}

LayerSpec convolution_layer(const std::string& name, const ConvolutionOptions& options) {
  const std::int64_t side = (options.in_side + 2 * options.padding - options.kernel) / options.stride + 1;
  const std::int64_t out_side = options.pool ? side / 2 : side;
  LayerSpec layer;
  layer.name = name;
  layer.parameters =
      weight_and_bias(name, {options.out_channels, options.in_channels, options.kernel, options.kernel}, options.fill);
  layer.out_shape = {options.out_channels, out_side, out_side};
  layer.multiply_adds =
      static_cast<double>(options.out_channels * side * side * options.in_channels * options.kernel * options.kernel);
  layer.forward = [padding = options.padding, stride = options.stride, pool = options.pool](
                      const at::Tensor& x, const Tensors& tensors, Mode) {
    const at::Tensor out = at::relu(at::conv2d(x, tensors[0], tensors[1], stride, padding));
    return pool ? at::max_pool2d(out, 2) : out;
  };
  return layer;
}

LayerSpec linear_layer(const std::string& name, std::int64_t in, std::int64_t out, Activation activation, Fill fill) {
  LayerSpec layer;
  layer.name = name;
  layer.parameters = weight_and_bias(name, {out, in}, fill);
  layer.out_shape = {out};
  layer.multiply_adds = static_cast<double>(in * out);
  layer.forward = [activation](const at::Tensor& x, const Tensors& tensors, Mode) {
    const at::Tensor h = at::linear(x.flatten(1), tensors[0], tensors[1]);
    return activation == Activation::kRelu ? at::relu(h) : h;
  };
  return layer;
}

}  // namespace lab::optc
