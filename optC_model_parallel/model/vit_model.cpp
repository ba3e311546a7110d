#include <string>
#include <utility>
#include <vector>

#include "optC_model_parallel/model/blocks.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {

// Shapes: B images, S = 64 positions, D = 48 values at each.

namespace {

constexpr std::int64_t kPatch = 4;
constexpr std::int64_t kPlacesPerSide = kImageSide / kPatch;
constexpr std::int64_t kPlaces = kPlacesPerSide * kPlacesPerSide;
constexpr std::int64_t kPatchValues = kImageChannels * kPatch * kPatch;
constexpr std::int64_t kWidth = 48;
constexpr std::int64_t kHeadDim = 12;
constexpr std::int64_t kHidden = 48;

at::Tensor vit_norm(const at::Tensor& x_BSD, const at::Tensor& weight, const at::Tensor& bias) {
  return at::layer_norm(x_BSD, {kWidth}, weight, bias, kNormEpsilon);
}

Tensors some(const Tensors& tensors, std::size_t begin, std::size_t end) {
  return {tensors.begin() + static_cast<std::ptrdiff_t>(begin), tensors.begin() + static_cast<std::ptrdiff_t>(end)};
}

/// [B, 3, 32, 32] -> [B, S, 48]: the pixels of each patch.
at::Tensor split_patches(const at::Tensor& x) {
  return x.reshape({x.size(0), kImageChannels, kPlacesPerSide, kPatch, kPlacesPerSide, kPatch})
      .permute({0, 2, 4, 1, 3, 5})
      .reshape({x.size(0), kPlaces, kPatchValues});
}

LayerSpec patches_layer() {
  LayerSpec layer = linear_layer("patches", kPatchValues, kWidth);
  layer.parameters.push_back({"places", {kPlaces, kWidth}, Fill::kUniform, kWidth});
  layer.out_shape = {kPlaces, kWidth};
  layer.multiply_adds *= static_cast<double>(kPlaces);
  layer.forward = [](const at::Tensor& x, const Tensors& tensors, Mode) {
    return at::linear(split_patches(x), tensors[0], tensors[1]) + tensors[2];
  };
  return layer;
}

/// All weights, then all biases, in the order of Blocks::attention.
std::vector<ParameterSpec> attention_parameters(const std::string& name) {
  std::vector<ParameterSpec> weights, biases;
  for (const char* which : {".q", ".k", ".v"}) {
    const std::vector<ParameterSpec> linear =
        split_by_rows(linear_parameters(name + which, kWidth, kWidth), /*unit=*/kHeadDim);
    weights.push_back(linear[0]);
    biases.push_back(linear[1]);
  }
  std::vector<ParameterSpec> o = split_by_columns(linear_parameters(name + ".o", kWidth, kWidth));
  o.front().split_unit = kHeadDim;
  return joined({weights, biases, o});
}

LayerSpec transformer_layer(const std::string& name, const Blocks& blocks) {
  LayerSpec layer;
  layer.name = name;
  layer.parameters = joined({norm_parameters(name + ".norm1", kWidth), attention_parameters(name),
                             norm_parameters(name + ".norm2", kWidth),
                             split_by_rows(linear_parameters(name + ".fc_in", kWidth, kHidden)),
                             split_by_columns(linear_parameters(name + ".fc_out", kHidden, kWidth))});
  layer.out_shape = {kPlaces, kWidth};
  layer.multiply_adds =
      static_cast<double>(kPlaces * (4 * kWidth * kWidth + 2 * kPlaces * kWidth + 2 * kWidth * kHidden));
  layer.forward = [attention = blocks.attention, mlp = blocks.mlp](const at::Tensor& x, const Tensors& t, Mode) {
    const at::Tensor h = x + attention(vit_norm(x, t[0], t[1]), some(t, 2, 10), kHeadDim);
    return h + mlp(vit_norm(h, t[10], t[11]), some(t, 12, 16));
  };
  return layer;
}

LayerSpec vit_head() {
  LayerSpec layer = linear_layer("head", kWidth, kNumClasses, Activation::kNone);
  layer.parameters = joined({norm_parameters("norm", kWidth), layer.parameters});
  layer.forward = [](const at::Tensor& x, const Tensors& tensors, Mode) {
    return at::linear(vit_norm(x, tensors[0], tensors[1]).mean(1), tensors[2], tensors[3]);
  };
  return layer;
}

}  // namespace

ModelSpec vit_model(const Blocks& blocks) {
  return {"vit",
          {patches_layer(), transformer_layer("block1", blocks), transformer_layer("block2", blocks), vit_head()}};
}

}  // namespace lab::optc
