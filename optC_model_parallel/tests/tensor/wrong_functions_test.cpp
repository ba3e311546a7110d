#include "optC_model_parallel/tests/tensor/wrong_functions.h"

#include <torch/csrc/autograd/custom_function.h>

#include "common/comm/autograd_facet.h"
#include "common/testing/test.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/parallel_functions.h"
#include "optC_model_parallel/tests/tensor/tensor_verdict.h"

// Each mistake with f, g and the sum within a region that the README warns of, as a wrong solution, and the case that
// catches it.
namespace lab::optc {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// f whose backward pass sums autograd's own gradient in place.
class InPlaceCopy : public torch::autograd::Function<InPlaceCopy> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, Collectives* comm) {
    remember(context, comm);
    return x.view_as(x);
  }
  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    return {recall<Collectives>(context).all_reduce(grad_outputs[0]), at::Tensor()};
  }
};

/// g that sums x in place.
class InPlaceReduce : public torch::autograd::Function<InPlaceReduce> {
 public:
  static at::Tensor forward(AutogradContext*, const at::Tensor& x, Collectives* comm) { return comm->all_reduce(x); }
  static variable_list backward(AutogradContext*, variable_list grad_outputs) {
    return {grad_outputs[0], at::Tensor()};
  }
};

TEST_CASE("right: f, g and the sum within a region as the reference has them") {
  CHECK(passes("CopyToRegion", function_call(copy_to_region)));
  CHECK(passes("ReduceFromRegion", function_call(reduce_from_region)));
  CHECK(passes("ReduceWithinRegion", function_call(reduce_within_region)));
}

TEST_CASE("wrong: f without the sum of gradients") {
  CHECK(differs("CopyToRegion", function_call(only_identity)));
}

TEST_CASE("wrong: f changes the gradient that belongs to autograd") {
  CHECK(differs("CopyToRegion",
                function_call([](const at::Tensor& x, Collectives& comm) { return InPlaceCopy::apply(x, &comm); })));
}

TEST_CASE("wrong: g sums gradients as well, so that they are P times too large") {
  CHECK(differs("ReduceFromRegion", function_call(reduce_within_region)));
}

TEST_CASE("wrong: g changes x") {
  CHECK(differs("ReduceFromRegion",
                function_call([](const at::Tensor& x, Collectives& comm) { return InPlaceReduce::apply(x, &comm); })));
}

TEST_CASE("wrong: g behind autograd's back") {
  CHECK(differs("ReduceFromRegion", function_call(sum_without_graph)));
}

TEST_CASE("wrong: g in the place of the sum within a region, which drops the others' parts of the gradient") {
  CHECK(differs("ReduceWithinRegion", function_call(reduce_from_region)));
}

}  // namespace
}  // namespace lab::optc
