#include "a5_pipeline/pipeline_stage.h"

#include <fmt/format.h>

#include "common/api/errors.h"
#include "common/comm/messages/endpoint.h"

namespace lab::a5 {
namespace {

at::Tensor gradient_of_input(const at::Tensor& input, const at::Tensor& output, const at::Tensor& output_grad) {
  if (!input.defined() || !output.defined())
    throw ContractError("PipelineStage::backward: expected the forward pass's input and output, got an undefined one");
  if (!input.requires_grad() || !input.is_leaf()) {
    throw ContractError(
        "PipelineStage::backward: expected an input that is a leaf and requires a gradient, got one that does not; "
        "hint: requires_grad_() before the forward pass, on the first stage too");
  }
  output.backward(output_grad.defined() ? output_grad : at::ones_like(output));
  return input.grad();
}

}  // namespace

PipelineStage::PipelineStage(const PipelineArguments& arguments, const std::vector<std::int64_t>& layer_indices,
                             StageTrace trace)
    : model_(arguments, layer_indices), trace_(std::move(trace)) {}

at::Tensor PipelineStage::forward(const at::Tensor& x) {
  return traced('F', [&] { return model_.forward(x); });
}

at::Tensor PipelineStage::backward(const at::Tensor& input, const at::Tensor& output, const at::Tensor& output_grad) {
  return traced('B', [&] { return gradient_of_input(input, output, output_grad); });
}

at::Tensor PipelineStage::forward_deferring(const at::Tensor& x, std::vector<DeferredGradient>& deferred) {
  const auto linear = [&](const at::Tensor& input, const at::Tensor& weight) {
    return deferred_linear(input, weight, deferred);
  };
  return traced('F', [&] { return model_.forward_with(linear, x); });
}

at::Tensor PipelineStage::backward_input(const at::Tensor& input, const at::Tensor& output,
                                         const at::Tensor& output_grad) {
  return traced('I', [&] { return gradient_of_input(input, output, output_grad); });
}

void PipelineStage::backward_weight(std::vector<DeferredGradient>& deferred) {
  traced('W', [&] {
    add_deferred_gradients(deferred);
    deferred.clear();
    return at::Tensor();
  });
}

at::Tensor PipelineStage::traced(char letter, const std::function<at::Tensor()>& computation) {
  const int turn = counts_[letter]++;
  if (trace_.endpoint == nullptr) return computation();
  const double start_seconds = trace_.endpoint->transport().now();
  at::Tensor result = computation();
  trace_.endpoint->record_computation(fmt::format("{}{}{}", letter, turn, trace_.suffix),
                                      static_cast<std::uint64_t>(turn), start_seconds);
  return result;
}

}  // namespace lab::a5
