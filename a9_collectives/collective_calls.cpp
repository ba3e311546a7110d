#include "a9_collectives/collective_calls.h"

#include "a9_collectives/all_to_all.h"
#include "a9_collectives/allgather.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/broadcast.h"
#include "a9_collectives/reduce_scatter.h"

namespace lab::a9 {
namespace {

/// The case's tensor; with other strides than a fresh one where the case asks for it.
at::Tensor input_of(const CaseInputs& inputs) {
  const at::Tensor x = inputs.tensor("input.x").clone();
  return inputs.numbers.count("transposed") == 0 ? x : x.transpose(0, -1).contiguous().transpose(0, -1);
}

int src_rank_of(const CaseInputs& inputs) {
  return static_cast<int>(inputs.whole("src_rank"));
}

// Each returns the argument, too: it holds the result where the contract says `in place`, and else is as it was.
TaskCall on_tensor(at::Tensor (*function)(at::Tensor, PointToPoint&)) {
  return [function](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = input_of(inputs);
    const at::Tensor out = function(x, comm.point_to_point());
    return TensorMap{{"out", out}, {"x", x}};
  };
}

TaskCall from_rank(at::Tensor (*function)(at::Tensor, int, PointToPoint&)) {
  return [function](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = input_of(inputs);
    const at::Tensor out = function(x, src_rank_of(inputs), comm.point_to_point());
    return TensorMap{{"out", out}, {"x", x}};
  };
}

TaskCall along_dims(at::Tensor (*function)(at::Tensor, std::int64_t, std::int64_t, PointToPoint&)) {
  return [function](Communicator& comm, const CaseInputs& inputs) {
    const at::Tensor x = input_of(inputs);
    const at::Tensor out = function(x, inputs.whole("scatter_dim"), inputs.whole("gather_dim"), comm.point_to_point());
    return TensorMap{{"out", out}, {"x", x}};
  };
}

}  // namespace

CallTable collective_calls() {
  return {{"a9.broadcast", from_rank(my_broadcast)},
          {"a9.broadcast_binomial", from_rank(broadcast_binomial)},
          {"a9.broadcast_chain", from_rank(broadcast_chain)},
          {"a9.allreduce", on_tensor(my_allreduce)},
          {"a9.allreduce_recursive_doubling", on_tensor(allreduce_recursive_doubling)},
          {"a9.allreduce_ring", on_tensor(allreduce_ring)},
          {"a9.allreduce_rabenseifner", on_tensor(allreduce_rabenseifner)},
          {"a9.allreduce_direct", on_tensor(allreduce_direct)},
          {"a9.allgather", on_tensor(my_allgather)},
          {"a9.allgather_ring", on_tensor(allgather_ring)},
          {"a9.allgather_recursive_doubling", on_tensor(allgather_recursive_doubling)},
          {"a9.allgather_bruck", on_tensor(allgather_bruck)},
          {"a9.allgather_direct", on_tensor(allgather_direct)},
          {"a9.reduce_scatter", on_tensor(my_reduce_scatter)},
          {"a9.reduce_scatter_ring", on_tensor(reduce_scatter_ring)},
          {"a9.reduce_scatter_recursive_halving", on_tensor(reduce_scatter_recursive_halving)},
          {"a9.all_to_all", along_dims(my_all_to_all)},
          {"a9.all_to_all_pairwise", along_dims(all_to_all_pairwise)}};
}

}  // namespace lab::a9
