#include "vae_sequence_parallel/layers.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "vae_sequence_parallel/moments.h"

namespace lab::vae {
namespace {

// Multiplications between two progress reports: about a second on a slow core.
constexpr std::int64_t kMostProducts = std::int64_t{1} << 32;

/// The convolution of x, with stride 1, in bands of num_rows rows.
at::Tensor convolve_in_bands(const Conv2d& conv, const at::Tensor& x, std::int64_t num_rows) {
  const std::int64_t padding = conv.options.padding, halo = conv.options.kernel / 2;
  const std::int64_t height = x.size(2) + 2 * (padding - halo), width = x.size(3) + 2 * (padding - halo);
  const at::Tensor out = at::empty({x.size(0), conv.options.out_channels, height, width},
                                   x.options().memory_format(at::MemoryFormat::ChannelsLast));
  for (std::int64_t begin = 0; begin < height; begin += num_rows) {
    const std::int64_t end = std::min(begin + num_rows, height);
    // Row r of the result comes from rows r - padding to r - padding + 2 halo of x, clipped to x.
    const std::int64_t first = std::max<std::int64_t>(begin - padding, 0);
    const std::int64_t last = std::min(end - padding + 2 * halo, x.size(2));
    const at::Tensor band = convolve(x.narrow(2, first, last - first), conv.weight, conv.bias, 1, {padding, padding});
    out.narrow(2, begin, end - begin).copy_(band.narrow(2, begin - first, end - begin));
    conv.report();
  }
  return out;
}

}  // namespace

Conv2d::Conv2d(const Weights& weights, const Conv2dOptions& conv_options)
    : options(conv_options),
      weight(weights.get("weight", {options.out_channels, options.in_channels, options.kernel, options.kernel})),
      bias(weights.get("bias", {options.out_channels})),
      report(weights.report()) {
  if (report) report();
}

at::Tensor convolve(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, std::int64_t stride,
                    at::IntArrayRef padding) {
  const bool by_onednn = at::hasMKLDNN() && at::globalContext().userEnabledMkldnn() && x.is_cpu() &&
                         x.scalar_type() == at::kFloat && x.numel() > 0;
  if (by_onednn && !at::GradMode::is_enabled())
    return at::mkldnn_convolution(x, weight, bias, padding, {stride, stride}, {1, 1}, 1);
  return at::conv2d(x, weight, bias, stride, padding);
}

at::Tensor Conv2d::forward(const at::Tensor& x) const {
  if (report && options.stride == 1) {
    const std::int64_t products_of_row = x.size(0) * x.size(3) * weight.numel();
    const std::int64_t num_rows = std::max<std::int64_t>(kMostProducts / std::max<std::int64_t>(products_of_row, 1), 1);
    if (num_rows < x.size(2)) return convolve_in_bands(*this, x, num_rows);
  }
  const at::Tensor out = convolve(x, weight, bias, options.stride, {options.padding, options.padding});
  if (report) report();
  return out;
}

GroupNorm::GroupNorm(const Weights& weights, std::int64_t num_channels, std::int64_t groups)
    : num_groups(groups), weight(weights.get("weight", {num_channels})), bias(weights.get("bias", {num_channels})) {}

at::Tensor GroupNorm::forward(const at::Tensor& x) const {
  // LibTorch's own loses digits in float32 if the mean is large (4e-5 at 1,000 deviations), but it has gradients.
  if (at::GradMode::is_enabled() || x.scalar_type() == at::kDouble)
    return at::group_norm(x, num_groups, weight, bias, kEpsilon);
  return normalized(x, GroupStatistics(local_moments(x, num_groups), kEpsilon), weight, bias);
}

at::Tensor swish(at::Tensor x) {
  return at::GradMode::is_enabled() ? at::silu(x) : at::silu_(x);
}

at::Tensor residual_sum(at::Tensor left, const at::Tensor& right) {
  return at::GradMode::is_enabled() ? left + right : left.add_(right);
}

at::Tensor upsample_nearest(const at::Tensor& x) {
  return at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)});
}

at::Tensor to_heads(const at::Tensor& x, std::int64_t num_heads) {
  const std::int64_t batch = x.size(0), channels = x.size(1);
  return x.permute({0, 2, 3, 1}).reshape({batch, -1, num_heads, channels / num_heads}).transpose(1, 2);
}

at::Tensor from_heads(const at::Tensor& heads, std::int64_t height, std::int64_t width) {
  const std::int64_t batch = heads.size(0), channels = heads.size(1) * heads.size(3);
  return heads.transpose(1, 2).reshape({batch, height, width, channels}).permute({0, 3, 1, 2});
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  return reported_attention(q, k, v, {});
}

at::Tensor reported_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                              const std::function<void()>& report) {
  // In groups of queries: only their scores grow with the square of the number of positions.
  const std::int64_t num_queries =
      std::clamp<std::int64_t>(kMostProducts / std::max<std::int64_t>(k.numel(), 1), 16, 1024);
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(-1)));
  const at::Tensor keys = k.to(at::kDouble).transpose(-2, -1), values = v.to(at::kDouble);
  std::vector<at::Tensor> found;
  for (const at::Tensor& queries : (q.to(at::kDouble) * scale).split(num_queries, -2)) {
    found.push_back(at::matmul(at::softmax(at::matmul(queries, keys), -1), values));
    if (report) report();
  }
  return at::cat(found, -2).to(q.scalar_type());
}

at::Tensor AttnBlock::forward(at::Tensor x) const {
  const at::Tensor normed = norm.forward(x);
  const at::Tensor found =
      reported_attention(to_heads(q.forward(normed), num_heads), to_heads(k.forward(normed), num_heads),
                         to_heads(v.forward(normed), num_heads), q.report);
  return residual_sum(proj_out.forward(from_heads(found, x.size(2), x.size(3))), x);
}

at::Tensor ResnetBlock::forward(at::Tensor x) const {
  at::Tensor h = conv1.forward(swish(norm1.forward(x)));
  h = conv2.forward(swish(norm2.forward(h)));
  if (nin_shortcut) x = nin_shortcut->forward(x);
  return residual_sum(std::move(h), x);
}

Downsample::Downsample(const Weights& weights, std::int64_t num_channels)
    : conv(weights / "conv", {num_channels, num_channels, 3, 2, 0}) {}

at::Tensor Downsample::forward(const at::Tensor& x) const {
  return conv.forward(at::constant_pad_nd(x, {0, 1, 0, 1}));
}

Upsample::Upsample(const Weights& weights, std::int64_t num_channels)
    : conv(weights / "conv", {num_channels, num_channels}) {}

at::Tensor Upsample::forward(at::Tensor x) const {
  x = upsample_nearest(x);
  return conv.forward(x);
}

}  // namespace lab::vae
