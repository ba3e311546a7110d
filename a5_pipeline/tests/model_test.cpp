#include "a5_pipeline/model.h"

#include "a5_pipeline/baseline.h"
#include "a5_pipeline/cases/reference.h"
#include "a5_pipeline/comparisons.h"
#include "common/api/compare.h"
#include "common/api/errors.h"
#include "common/testing/test.h"

// A model on which a comparison is meaningful: its signal does not fade, and it is the same however it is cut.
namespace lab::a5 {
namespace {

double compute_norm(const at::Tensor& tensor) {
  return tensor.norm().item<double>();
}

double rms(const at::Tensor& tensor) {
  return compute_norm(tensor) / std::sqrt(static_cast<double>(tensor.numel()));
}

TEST_CASE("activations neither fade nor grow through twelve layers, at the default sizes and at the tests'") {
  for (const bool small : {false, true}) {
    for (const auto& [seed, activation] :
         {std::pair(1234, Activation::kTanh), std::pair(42, Activation::kTanh), std::pair(7, Activation::kTanh),
          std::pair(1234, Activation::kRelu), std::pair(42, Activation::kRelu), std::pair(7, Activation::kRelu)}) {
      PipelineArguments arguments;
      arguments.activation = activation;
      arguments.number_of_layers = 12;
      arguments.seed = static_cast<std::uint64_t>(seed);
      if (small) {
        arguments.hidden_size = 32;
        arguments.intermediate_size = 64;
      }
      at::Tensor x = DataLoader(arguments).micro_batch(0);
      for (std::int64_t layer = 0; layer < arguments.number_of_layers; ++layer) {
        x = Model(arguments, {layer}).forward(x).detach();
        INFO("layer " << layer << ", seed " << seed << ", hidden size " << arguments.hidden_size);
        CHECK(rms(x) > 0.2);
        CHECK(rms(x) < 1.5);
      }
    }
  }
}

TEST_CASE("every gradient of the baseline says something, in every dtype") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    PipelineArguments arguments;
    arguments.dtype = dtype;
    const Model model(arguments, all_layers(arguments));
    for (const auto& [name, gradient] : model.gradients()) CHECK_FALSE(gradient.defined());
    DataLoader data(arguments);
    CHECK(baseline_forward_backward(model, data, arguments).size() == 8);
    CHECK(model.gradients().size() == 20);
    for (const auto& [name, gradient] : model.gradients()) {
      CAPTURE(name);
      REQUIRE(gradient.defined());
      // Hundreds of times what an absolute tolerance of 1e-5 would take for zero.
      CHECK(compute_norm(gradient) > 1e-3);
    }
  }
}

TEST_CASE("a layer is bitwise the same whichever model makes it, and no two layers are alike") {
  PipelineArguments arguments;
  arguments.hidden_size = arguments.intermediate_size = 16;
  const Model whole(arguments, all_layers(arguments));
  const Model part(arguments, {7, 3});
  REQUIRE(part.layers().size() == 2);
  for (const Layer& layer : part.layers()) {
    const Layer& same = whole.layers()[static_cast<std::size_t>(layer.index)];
    CHECK(same.index == layer.index);
    CHECK(at::equal(layer.fc1, same.fc1));
    CHECK(at::equal(layer.fc2, same.fc2));
  }
  for (const Layer& one : whole.layers()) {
    CHECK_FALSE(at::equal(one.fc1, one.fc2));
    for (const Layer& other : whole.layers()) CHECK(at::equal(one.fc1, other.fc1) == (one.index == other.index));
  }
  arguments.seed += 1;
  CHECK_FALSE(at::equal(make_layer(arguments, 0).fc1, whole.layers()[0].fc1));
  CHECK_THROWS_WITH_AS(Model(arguments, {10}), "a stage was given layer 10; expected indices from 0 to 9",
                       ContractError);
}

TEST_CASE("a layer and a micro-batch are the same in every dtype, up to rounding") {
  PipelineArguments arguments;
  const Layer single = make_layer(arguments, 4);
  const at::Tensor batch = DataLoader(arguments).micro_batch(2);
  for (const at::ScalarType dtype : {at::kDouble, at::kBFloat16}) {
    arguments.dtype = dtype;
    const double rounding = dtype == at::kDouble ? 0 : 0x1p-8;
    const auto near = [&](const at::Tensor& other, const at::Tensor& expected) {
      CHECK((other.scalar_type() == dtype));
      return (other.detach().to(at::kDouble) - expected.detach().to(at::kDouble))
          .abs()
          .le(rounding * expected.detach().to(at::kDouble).abs())
          .all()
          .item()
          .toBool();
    };
    const Layer layer = make_layer(arguments, 4);
    CHECK(near(layer.fc1, single.fc1));
    CHECK(near(layer.fc2, single.fc2));
    CHECK(near(DataLoader(arguments).micro_batch(2), batch));
  }
}

TEST_CASE("micro-batches differ, and are the same whether taken in turn or by number, whatever their number") {
  PipelineArguments arguments;
  DataLoader data(arguments);
  arguments.global_batch_size *= 2;
  const DataLoader longer(arguments);
  std::vector<at::Tensor> seen;
  for (std::int64_t i = 0; i < data.size(); ++i) {
    const at::Tensor batch = data.next();
    CHECK(at::equal(batch, longer.micro_batch(i)));
    CHECK(batch.sizes() == arguments.activation_shape());
    CHECK_FALSE(batch.requires_grad());
    CHECK(batch.min().item<double>() >= 0);
    CHECK(batch.max().item<double>() < 1);
    for (const at::Tensor& before : seen) CHECK_FALSE(at::equal(batch, before));
    seen.push_back(batch);
  }
}

TEST_CASE("the gradients by hand are autograd's") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    PipelineArguments arguments;
    arguments.dtype = dtype;
    const Model model(arguments, all_layers(arguments));
    DataLoader data(arguments);
    const std::vector<at::Tensor> outputs = baseline_forward_backward(model, data, arguments);
    const Reference reference = compute_reference(arguments);
    const Tolerance tolerance = tolerance_of(arguments);
    REQUIRE(outputs.size() == reference.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(compare(reference.outputs[i], outputs[i], tolerance).close);
    REQUIRE(reference.gradients.size() == model.gradients().size());
    for (const auto& [name, gradient] : model.gradients()) {
      CAPTURE(name);
      CHECK(compare(reference.gradients.at(name), gradient, tolerance).close);
    }
  }
}

}  // namespace
}  // namespace lab::a5
