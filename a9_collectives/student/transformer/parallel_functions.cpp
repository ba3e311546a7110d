#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/autograd_communicator.h"
#include "a9_collectives/transformer_parallel_functions.h"

namespace lab::a9 {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class BroadcastParallel : public torch::autograd::Function<BroadcastParallel> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, Communicator* comm) {
    remember_communicator(context, comm);
    return x.view_as(x);
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    Communicator& comm = recall_communicator(context);
    // BEGIN SOLUTION a9.parallel_functions
    // STUB // TODO(a9.parallel_functions): return the sum over all ranks of grad_outputs[0], and an undefined tensor
    // STUB // for the argument that has no gradient: {grad, at::Tensor()}. Do not change grad_outputs[0] itself.
    // STUB not_implemented("a9.parallel_functions", grad_outputs, comm);
    return {my_allreduce(grad_outputs[0].clone(), comm.point_to_point()), at::Tensor()};
    // END SOLUTION a9.parallel_functions
  }
};

class ReduceParallel : public torch::autograd::Function<ReduceParallel> {
 public:
  static at::Tensor forward(AutogradContext*, const at::Tensor& x, Communicator* comm) {
    // BEGIN SOLUTION a9.parallel_functions
    // STUB // TODO(a9.parallel_functions): return the sum of x over all ranks, leaving x itself as it is.
    // STUB not_implemented("a9.parallel_functions", x, comm);
    return my_allreduce(x.clone(), comm->point_to_point());
    // END SOLUTION a9.parallel_functions
  }

  static variable_list backward(AutogradContext*, variable_list grad_outputs) {
    // BEGIN SOLUTION a9.parallel_functions
    // STUB // TODO(a9.parallel_functions): every rank has the whole gradient of the sum. What is that of one summand?
    // STUB not_implemented("a9.parallel_functions", grad_outputs);
    return {grad_outputs[0], at::Tensor()};
    // END SOLUTION a9.parallel_functions
  }
};

class AllToAllParallel : public torch::autograd::Function<AllToAllParallel> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, std::int64_t scatter_dim,
                            std::int64_t gather_dim, Communicator* comm) {
    remember_communicator(context, comm);
    context->saved_data["scatter_dim"] = scatter_dim;
    context->saved_data["gather_dim"] = gather_dim;
    return my_all_to_all(x, scatter_dim, gather_dim, comm->point_to_point());
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    Communicator& comm = recall_communicator(context);
    const std::int64_t scatter_dim = context->saved_data["scatter_dim"].toInt();
    const std::int64_t gather_dim = context->saved_data["gather_dim"].toInt();
    // BEGIN SOLUTION a9.parallel_functions
    // STUB // TODO(a9.parallel_functions): send every element of grad_outputs[0] back to where its forward element came
    // STUB // from, with one my_all_to_all; three arguments have no gradient: {grad, at::Tensor(), at::Tensor(),
    // STUB // at::Tensor()}.
    // STUB not_implemented("a9.parallel_functions", grad_outputs, scatter_dim, gather_dim, comm);
    const at::Tensor grad = my_all_to_all(grad_outputs[0], gather_dim, scatter_dim, comm.point_to_point());
    return {grad, at::Tensor(), at::Tensor(), at::Tensor()};
    // END SOLUTION a9.parallel_functions
  }
};

}  // namespace

at::Tensor broadcast_parallel(const at::Tensor& x, Communicator& comm) {
  return BroadcastParallel::apply(x, &comm);
}

at::Tensor reduce_parallel(const at::Tensor& x, Communicator& comm) {
  return ReduceParallel::apply(x, &comm);
}

at::Tensor all_to_all_parallel(const at::Tensor& x, std::int64_t scatter_dim, std::int64_t gather_dim,
                               Communicator& comm) {
  return AllToAllParallel::apply(x, scatter_dim, gather_dim, &comm);
}

void sum_gradients(const TensorMap& parameters, Communicator& comm) {
  for (const auto& [name, parameter] : parameters) {
    if (!parameter.grad().defined())
      throw ContractError(fmt::format("sum_gradients, rank {}: no gradient arrived at {}", comm.rank(), name));
  }
  // BEGIN SOLUTION a9.parallel_functions
  // STUB // TODO(a9.parallel_functions): make each parameter's grad() the sum over all ranks, in place.
  // STUB not_implemented("a9.parallel_functions", parameters, comm);
  for (const auto& [name, parameter] : parameters) my_allreduce(parameter.grad(), comm.point_to_point());
  // END SOLUTION a9.parallel_functions
}

}  // namespace lab::a9
