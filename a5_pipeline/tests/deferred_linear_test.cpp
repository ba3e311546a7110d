#include "a5_pipeline/model/deferred_linear.h"

#include "a5_pipeline/comparisons.h"
#include "a5_pipeline/pipeline_stage.h"
#include "common/api/compare.h"
#include "common/tensor/seeded.h"
#include "common/testing/test.h"

// A linear layer whose weight gradient comes later: the same two gradients as autograd's.
namespace lab::a5 {
namespace {

const Tolerance kTolerance = tolerance_of(at::kDouble);

at::Tensor leaf(at::IntArrayRef sizes, std::uint64_t seed) {
  return seeded_randn(sizes, seed, at::kDouble).requires_grad_();
}

TEST_CASE("both gradients are autograd's, for rows, sequences and batches of them") {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{5, 4}, std::vector<std::int64_t>{2, 3, 4}, std::vector<std::int64_t>{1, 1, 4}}) {
    const at::Tensor x = leaf(shape, 1), weight = leaf({7, 4}, 2);
    const at::Tensor same_x = leaf(shape, 1), same_weight = leaf({7, 4}, 2);
    const at::Tensor expected = at::linear(same_x, same_weight);
    const at::Tensor grad_out = seeded_randn(expected.sizes(), 3, at::kDouble);
    expected.backward(grad_out);

    std::vector<DeferredGradient> deferred;
    const at::Tensor out = deferred_linear(x, weight, deferred);
    CHECK(at::equal(out.detach(), expected.detach()));
    CHECK(deferred.empty());
    out.backward(grad_out);
    CHECK(deferred.size() == 1);
    CHECK(compare(x.grad(), same_x.grad(), kTolerance).close);
    CHECK_FALSE(weight.grad().defined());

    add_deferred_gradients(deferred);
    CHECK(compare(weight.grad(), same_weight.grad(), kTolerance).close);
    add_deferred_gradients(deferred);
    CHECK(compare(weight.grad(), 2 * same_weight.grad(), kTolerance).close);
  }
}

TEST_CASE("deferred gradients are added to the weight's gradient, and to no other tensor") {
  const at::Tensor x = leaf({3, 4}, 1), weight = leaf({2, 4}, 2);
  std::vector<DeferredGradient> first, second;
  deferred_linear(x, weight, first).sum().backward();
  deferred_linear(x, weight, second).sum().backward();
  add_deferred_gradients(first);
  const at::Tensor once = weight.grad().clone();
  add_deferred_gradients(second);
  CHECK(compare(weight.grad(), 2 * once, kTolerance).close);
  CHECK(compare(once, x.detach().sum(0, true).expand({2, 4}).contiguous(), kTolerance).close);
}

TEST_CASE("a stage in two halves gives what it gives in one, micro-batch by micro-batch") {
  PipelineArguments arguments;
  arguments.sequence_length = 3;
  arguments.hidden_size = 8;
  arguments.intermediate_size = 20;
  arguments.dtype = at::kDouble;
  PipelineStage whole(arguments, {2, 3}), halves(arguments, {2, 3});
  const at::Tensor grad_out = seeded_randn(arguments.activation_shape(), 3, at::kDouble);
  std::vector<std::vector<DeferredGradient>> deferred(2);
  std::vector<at::Tensor> inputs, outputs;
  for (const std::uint64_t i : {0, 1}) {
    inputs.push_back(leaf(arguments.activation_shape(), i));
    outputs.push_back(halves.forward_deferring(inputs[i], deferred[i]));
  }
  for (const std::uint64_t i : {0, 1}) {
    const at::Tensor input = leaf(arguments.activation_shape(), i);
    const at::Tensor input_grad = whole.backward(input, whole.forward(input), grad_out);
    CHECK(compare(halves.backward_input(inputs[i], outputs[i], grad_out), input_grad, kTolerance).close);
    for (const auto& [name, gradient] : halves.model().gradients()) CHECK_FALSE(gradient.defined());
  }
  for (std::vector<DeferredGradient>& of_one : deferred) {
    CHECK(of_one.size() == 4);
    halves.backward_weight(of_one);
    CHECK(of_one.empty());
  }
  for (const auto& [name, gradient] : whole.model().gradients()) {
    CAPTURE(name);
    CHECK(compare(halves.model().gradients().at(name), gradient, kTolerance).close);
  }
}

}  // namespace
}  // namespace lab::a5
