// Has its messages counted under another name, where no bound is.
#include "a9_collectives/transformer_parallel_functions.h"

#include <stdexcept>

namespace lab::a9 {

at::Tensor broadcast_parallel(const at::Tensor&, Communicator& comm) {
  comm.endpoint().set_label("nothing");
  comm.endpoint().ledger() = {};
  throw std::runtime_error("BREACH: student code can reach what counts");
}

at::Tensor reduce_parallel(const at::Tensor& x, Communicator& comm) {
  return broadcast_parallel(x, comm);
}

at::Tensor all_to_all_parallel(const at::Tensor& x, std::int64_t, std::int64_t, Communicator& comm) {
  return broadcast_parallel(x, comm);
}

void sum_gradients(const TensorMap&, Communicator& comm) {
  broadcast_parallel({}, comm);
}

}  // namespace lab::a9
