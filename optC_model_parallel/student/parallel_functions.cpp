#include "optC_model_parallel/parallel_functions.h"

#include "common/comm/autograd_facet.h"

// apply() calls forward() with its own arguments. backward() returns a gradient for each of them, and an undefined
// tensor for `comm`, which has none: {gradient, at::Tensor()}.
namespace lab::optc {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class CopyToRegion : public torch::autograd::Function<CopyToRegion> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, Collectives* comm) {
    remember(context, comm);
    // BEGIN SOLUTION optC.copy_to_region
    // STUB // TODO(optC.copy_to_region): what comes out is what went in: x.view_as(x).
    // STUB not_implemented("optC.copy_to_region", x);
    return x.view_as(x);
    // END SOLUTION optC.copy_to_region
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    Collectives& comm = recall<Collectives>(context);
    // BEGIN SOLUTION optC.copy_to_region
    // STUB // TODO(optC.copy_to_region): every rank went on with x in a way of its own, so the gradient of x is the sum
    // STUB // of all ranks' gradients. grad_outputs[0] belongs to autograd: sum up a copy of it.
    // STUB not_implemented("optC.copy_to_region", grad_outputs, comm);
    return {comm.all_reduce(grad_outputs[0].clone()), at::Tensor()};
    // END SOLUTION optC.copy_to_region
  }
};

class ReduceFromRegion : public torch::autograd::Function<ReduceFromRegion> {
 public:
  static at::Tensor forward(AutogradContext*, const at::Tensor& x, Collectives* comm) {
    // BEGIN SOLUTION optC.reduce_from_region
    // STUB // TODO(optC.reduce_from_region): the sum over all ranks of x, which itself must stay as it is.
    // STUB not_implemented("optC.reduce_from_region", x, comm);
    return comm->all_reduce(x.clone());
    // END SOLUTION optC.reduce_from_region
  }

  static variable_list backward(AutogradContext*, variable_list grad_outputs) {
    // BEGIN SOLUTION optC.reduce_from_region
    // STUB // TODO(optC.reduce_from_region): all ranks have the same sum, go on with it in the same way, and find the
    // STUB // same gradient of it. What is that of one term of the sum?
    // STUB not_implemented("optC.reduce_from_region", grad_outputs);
    return {grad_outputs[0], at::Tensor()};
    // END SOLUTION optC.reduce_from_region
  }
};

class ReduceWithinRegion : public torch::autograd::Function<ReduceWithinRegion> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, Collectives* comm) {
    remember(context, comm);
    // BEGIN SOLUTION optC.reduce_within_region
    // STUB // TODO(optC.reduce_within_region): the sum over all ranks of x, which itself must stay as it is.
    // STUB not_implemented("optC.reduce_within_region", x, comm);
    return comm->all_reduce(x.clone());
    // END SOLUTION optC.reduce_within_region
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    Collectives& comm = recall<Collectives>(context);
    // BEGIN SOLUTION optC.reduce_within_region
    // STUB // TODO(optC.reduce_within_region): all ranks have the same sum, but each goes on with it in a way of its
    // STUB // own: every one of them knows a part of its gradient.
    // STUB not_implemented("optC.reduce_within_region", grad_outputs, comm);
    return {comm.all_reduce(grad_outputs[0].clone()), at::Tensor()};
    // END SOLUTION optC.reduce_within_region
  }
};

}  // namespace

at::Tensor copy_to_region(const at::Tensor& x, Collectives& comm) {
  return CopyToRegion::apply(x, &comm);
}

at::Tensor reduce_from_region(const at::Tensor& x, Collectives& comm) {
  return ReduceFromRegion::apply(x, &comm);
}

at::Tensor reduce_within_region(const at::Tensor& x, Collectives& comm) {
  return ReduceWithinRegion::apply(x, &comm);
}

}  // namespace lab::optc
