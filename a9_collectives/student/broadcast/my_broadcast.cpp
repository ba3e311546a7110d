#include "a9_collectives/broadcast.h"
#include "a9_collectives/choices.h"
#include "a9_collectives/guards.h"

namespace lab::a9 {

std::string choose_broadcast(std::int64_t num_bytes, int num_ranks) {
  // BEGIN SOLUTION a9.broadcast_choice
  // STUB // TODO(a9.broadcast_choice): name the quickest of your algorithms ("binomial", "chain").
  // STUB return num_bytes + num_ranks >= 0 ? "flat" : "";
  // Up to 8 ranks as `bench --nproc 8 --fit` has measured it on two cores; 48 and 64 as in `sim --sweep`.
  static const std::vector<Choice> table = {
      {2, kAnySize, "binomial"}, {3, kAnySize, "binomial"},  {4, kAnySize, "binomial"},
      {6, kAnySize, "binomial"}, {8, kAnySize, "binomial"},  {48, 2 * kMiB, "binomial"},
      {48, kAnySize, "chain"},   {64, 2 * kMiB, "binomial"}, {64, kAnySize, "chain"},
  };
  return quickest(table, num_bytes, num_ranks);
  // END SOLUTION a9.broadcast_choice
}

at::Tensor my_broadcast(at::Tensor tensor, int src_rank, PointToPoint& p2p) {
  require_rank("my_broadcast", src_rank, p2p);
  if (p2p.size() == 1) return tensor;
  p2p.agree(fmt::format("my_broadcast from {}", src_rank), tensor);
  const c10::NoGradGuard no_grad;
  const std::string algorithm = choose_broadcast(static_cast<std::int64_t>(tensor.nbytes()), p2p.size());
  if (algorithm == "chain") return broadcast_chain(tensor, src_rank, p2p);
  if (algorithm == "binomial") return broadcast_binomial(tensor, src_rank, p2p);
  if (algorithm == "flat") return broadcast_flat(tensor, src_rank, p2p);
  refuse_algorithm("choose_broadcast", algorithm, {"flat", "binomial", "chain"});
}

}  // namespace lab::a9
