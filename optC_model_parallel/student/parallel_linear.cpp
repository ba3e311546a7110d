#include "common/comm/autograd_facet.h"
#include "optC_model_parallel/parallel_functions.h"
#include "optC_model_parallel/parallel_layers.h"

namespace lab::optc {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Forward: all ranks' x side by side along the last dimension. Backward: this rank's part of the gradient.
class GatherLastDim : public torch::autograd::Function<GatherLastDim> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, Collectives* comm) {
    remember(context, comm);
    // BEGIN SOLUTION optC.column_linear
    // STUB // TODO(optC.column_linear): the parts of all ranks (all_gather), joined along the last dimension (at::cat).
    // STUB not_implemented("optC.column_linear", x, comm);
    return at::cat(comm->all_gather(x), -1);
    // END SOLUTION optC.column_linear
  }

  static variable_list backward(AutogradContext* context, variable_list grad_outputs) {
    Collectives& comm = recall<Collectives>(context);
    // BEGIN SOLUTION optC.column_linear
    // STUB // TODO(optC.column_linear): the whole output, and so its gradient, is the same on every rank. Which part
    // STUB // of it belongs to this rank's x? {part, at::Tensor()}.
    // STUB not_implemented("optC.column_linear", grad_outputs, comm);
    return {grad_outputs[0].chunk(comm.size(), -1)[static_cast<std::size_t>(comm.rank())], at::Tensor()};
    // END SOLUTION optC.column_linear
  }
};

}  // namespace

at::Tensor column_parallel_linear(const at::Tensor& x, const at::Tensor& weight_shard, const at::Tensor& bias_shard,
                                  bool gather_output, Collectives& comm) {
  // BEGIN SOLUTION optC.column_linear
  // STUB // TODO(optC.column_linear): x enters by f, copy_to_region(); at::linear() by this rank's neurons; their
  // STUB // outputs as they are, or with gather_output all ranks': GatherLastDim::apply(out_shard, &comm).
  // STUB not_implemented("optC.column_linear", x, weight_shard, bias_shard, gather_output, comm);
  const at::Tensor out_shard = at::linear(copy_to_region(x, comm), weight_shard, bias_shard);
  return gather_output ? GatherLastDim::apply(out_shard, &comm) : out_shard;
  // END SOLUTION optC.column_linear
}

at::Tensor row_parallel_linear(const at::Tensor& x_shard, const at::Tensor& weight_shard, const at::Tensor& bias,
                               Collectives& comm) {
  // BEGIN SOLUTION optC.row_linear
  // STUB // TODO(optC.row_linear): at::linear() of this rank's inputs is one term of a sum over all ranks, which g,
  // STUB // reduce_from_region(), makes. Every rank has the whole bias, but it counts once, and so does its gradient.
  // STUB not_implemented("optC.row_linear", x_shard, weight_shard, bias, comm);
  return reduce_from_region(at::linear(x_shard, weight_shard), comm) + bias;
  // END SOLUTION optC.row_linear
}

}  // namespace lab::optc
