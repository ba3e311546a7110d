#include "a9_collectives/allgather.h"
#include "a9_collectives/choices.h"
#include "a9_collectives/guards.h"

namespace lab::a9 {

std::string choose_allgather(std::int64_t num_bytes, int num_ranks) {
  // BEGIN SOLUTION a9.allgather_choice
  // STUB // TODO(a9.allgather_choice): name the quickest of your algorithms ("ring", "recursive_doubling", "bruck",
  // STUB // "direct").
  // STUB return num_bytes + num_ranks >= 0 ? "through_root" : "";
  // Up to 8 ranks as `bench --nproc 8 --fit` has measured it on two cores; 48 and 64 as in `sim --sweep`.
  const std::vector<Choice> table = {
      {2, 2 * kKiB, "direct"},
      {2, kAnySize, "ring"},
      {3, kAnySize, "direct"},
      {4, 512 * kKiB, "recursive_doubling"},
      {4, kAnySize, "direct"},
      {6, 512 * kKiB, "recursive_doubling"},
      {6, 32 * kMiB, "direct"},
      {6, kAnySize, "ring"},
      {8, kAnySize, "recursive_doubling"},
      {48, kAnySize, "bruck"},
      {64, kAnySize, "recursive_doubling"},
  };
  return quickest(table, num_bytes, num_ranks);
  // END SOLUTION a9.allgather_choice
}

at::Tensor my_allgather(at::Tensor tensor, PointToPoint& p2p) {
  require_rows("my_allgather", tensor, p2p);
  p2p.agree("my_allgather", tensor);
  const c10::NoGradGuard no_grad;
  const std::int64_t num_bytes = static_cast<std::int64_t>(tensor.nbytes()) * p2p.size();
  const std::string algorithm = choose_allgather(num_bytes, p2p.size());
  if (algorithm == "ring") return allgather_ring(tensor, p2p);
  if (algorithm == "recursive_doubling") return allgather_recursive_doubling(tensor, p2p);
  if (algorithm == "bruck") return allgather_bruck(tensor, p2p);
  if (algorithm == "direct") return allgather_direct(tensor, p2p);
  if (algorithm == "through_root") return allgather_through_root(tensor, p2p);
  refuse_algorithm("choose_allgather", algorithm, {"through_root", "ring", "recursive_doubling", "bruck", "direct"});
}

}  // namespace lab::a9
