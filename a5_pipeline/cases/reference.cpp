#include "a5_pipeline/cases/reference.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "a5_pipeline/data_loader.h"
#include "a5_pipeline/model.h"

namespace lab::a5 {
namespace {

void add_to(TensorMap& sums, const std::string& name, const at::Tensor& addend) {
  at::Tensor& sum = sums[name];
  sum = sum.defined() ? sum + addend : addend;
}

}  // namespace

Reference compute_reference(const PipelineArguments& arguments) {
  const c10::NoGradGuard no_grad;
  Reference reference;
  const Model model(arguments, all_layers(arguments));
  const DataLoader data(arguments);
  const bool is_relu = arguments.activation == Activation::kRelu;
  for (std::int64_t i = 0; i < data.size(); ++i) {
    std::vector<at::Tensor> inputs, hidden;  // of each layer, a row per token
    at::Tensor x = data.micro_batch(i).reshape({-1, arguments.hidden_size});
    for (const Layer& layer : model.layers()) {
      inputs.push_back(x);
      const at::Tensor inner = at::matmul(x, layer.fc1.t());
      hidden.push_back(is_relu ? inner.clamp_min(0) : at::tanh(inner));
      x = at::matmul(hidden.back(), layer.fc2.t());
    }
    reference.outputs.push_back(x.reshape(arguments.activation_shape()));

    at::Tensor grad = at::full_like(x, 1.0 / static_cast<double>(x.numel()));
    for (std::size_t l = model.layers().size(); l-- > 0;) {
      const Layer& layer = model.layers()[l];
      const at::Tensor derivative = is_relu ? hidden[l].gt(0).to(grad.scalar_type()) : 1 - hidden[l].square();
      const at::Tensor inner_grad = at::matmul(grad, layer.fc2) * derivative;
      add_to(reference.gradients, fmt::format("layer{}.fc2", layer.index), at::matmul(grad.t(), hidden[l]));
      add_to(reference.gradients, fmt::format("layer{}.fc1", layer.index), at::matmul(inner_grad.t(), inputs[l]));
      grad = at::matmul(inner_grad, layer.fc1);
    }
  }
  return reference;
}

}  // namespace lab::a5
