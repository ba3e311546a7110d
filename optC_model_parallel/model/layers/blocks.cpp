#include "optC_model_parallel/model/layers/blocks.h"

#include <cmath>

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

}  // namespace lab::optc
