#include "common/demo/stage.h"

#include <fmt/format.h>

#include <cmath>

#include "common/tensor/seeded.h"

namespace lab::demo {
namespace {

at::Tensor drawn_weight(const Sizes& sizes, std::uint64_t seed, double scale) {
  return seeded_randn({sizes.width, sizes.width}, seed) * (scale / std::sqrt(static_cast<double>(sizes.width)));
}

at::Tensor drawn_input(const Sizes& sizes, int micro_batch) {
  return seeded_randn({sizes.rows, sizes.width}, sizes.seed + 1000 + static_cast<std::uint64_t>(micro_batch));
}

at::Tensor make_target(const Sizes& sizes, const at::Tensor& input) {
  return input + at::tanh(at::matmul(input, drawn_weight(sizes, sizes.seed + 2000, 1)));
}

}  // namespace

Stage::Stage(const Sizes& sizes, int begin, int end, Endpoint* endpoint)
    : sizes_(sizes), end_(end), endpoint_(endpoint) {
  for (int layer = begin; layer < end; ++layer) {
    const at::Tensor weight = drawn_weight(sizes, sizes.seed + static_cast<std::uint64_t>(layer), 0.1);
    layers_.push_back({weight, at::zeros_like(weight)});
  }
  for (int i = 0; i < sizes.num_micro_batches; ++i) {
    if (begin == 0) inputs_.push_back(drawn_input(sizes, i));
    if (is_last()) targets_.push_back(make_target(sizes, drawn_input(sizes, i)));
  }
}

at::Tensor Stage::forward(int, int micro_batch, const at::Tensor& input) {
  const double start = now();
  const auto index = static_cast<std::size_t>(micro_batch);
  Live& live = live_[micro_batch];
  at::Tensor x = input.defined() ? input : inputs_.at(index);
  for (const Layer& layer : layers_) {
    live.inputs.push_back(x);
    live.activations.push_back(at::tanh(at::matmul(x, layer.weight)));
    x = x + live.activations.back();
  }
  if (is_last()) {
    live.error = x - targets_[index];
    loss_ += live.error.square().mean().item<double>() / sizes_.num_micro_batches;
  }
  trace('F', micro_batch, start);
  return x;
}

at::Tensor Stage::backward(int chunk, int micro_batch, const at::Tensor& output_grad) {
  const double start = now();
  at::Tensor input_grad = backward_input(chunk, micro_batch, output_grad);
  backward_weight(chunk, micro_batch);
  trace('B', micro_batch, start);
  return input_grad;
}

at::Tensor Stage::backward_input(int, int micro_batch, const at::Tensor& output_grad) {
  Live& live = live_.at(micro_batch);
  const auto num_rows = static_cast<double>(sizes_.num_micro_batches * sizes_.rows);
  at::Tensor grad = is_last() ? live.error * (2 / num_rows) : output_grad;
  live.deltas.resize(layers_.size());
  for (std::size_t i = layers_.size(); i-- > 0;) {
    live.deltas[i] = grad * (1 - live.activations[i].square());
    grad = grad + at::matmul(live.deltas[i], layers_[i].weight.t());
  }
  return grad;
}

void Stage::backward_weight(int, int micro_batch) {
  const Live& live = live_.at(micro_batch);
  // Gradients add up over the micro-batches, as in autograd.
  for (std::size_t i = 0; i < layers_.size(); ++i) layers_[i].grad += at::matmul(live.inputs[i].t(), live.deltas[i]);
  live_.erase(micro_batch);
}

double Stage::update(double learning_rate) {
  for (Layer& layer : layers_) {
    layer.weight -= learning_rate * layer.grad;
    layer.grad.zero_();
  }
  const double loss = loss_;
  loss_ = 0;
  return loss;
}

void Stage::trace(char letter, int micro_batch, double start_seconds) const {
  if (endpoint_ == nullptr) return;
  endpoint_->record_computation(fmt::format("{}{}", letter, micro_batch), static_cast<std::uint64_t>(micro_batch),
                                start_seconds);
}

}  // namespace lab::demo
