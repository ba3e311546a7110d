#include "optC_model_parallel/model/layers/layer_specs.h"

#include <iterator>

namespace lab::optc {
namespace {

std::vector<ParameterSpec> weight_and_bias(const std::string& name, std::vector<std::int64_t> shape,
                                           std::int64_t fan_in, Fill fill) {
  const std::int64_t out = shape.front();
  return {{name + ".weight", std::move(shape), fill, fan_in},
          {name + ".bias", {out}, fill == Fill::kHe ? Fill::kZeros : fill, fan_in}};
}

}  // namespace

std::vector<ParameterSpec> linear_parameters(const std::string& name, std::int64_t in, std::int64_t out, Fill fill) {
  return weight_and_bias(name, {out, in}, in, fill);
}

std::vector<ParameterSpec> convolution_parameters(const std::string& name, std::int64_t in, std::int64_t out,
                                                  std::int64_t kernel, Fill fill) {
  return weight_and_bias(name, {out, in, kernel, kernel}, in * kernel * kernel, fill);
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
      convolution_parameters(name, options.in_channels, options.out_channels, options.kernel, options.fill);
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
  layer.parameters = linear_parameters(name, in, out, fill);
  layer.out_shape = {out};
  layer.multiply_adds = static_cast<double>(in * out);
  layer.forward = [activation](const at::Tensor& x, const Tensors& tensors, Mode) {
    const at::Tensor h = at::linear(x.flatten(1), tensors[0], tensors[1]);
    return activation == Activation::kRelu ? at::relu(h) : h;
  };
  return layer;
}

}  // namespace lab::optc
