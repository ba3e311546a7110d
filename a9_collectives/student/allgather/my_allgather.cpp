#include "a9_collectives/allgather.h"
#include "a9_collectives/guards.h"

namespace lab::a9 {

std::string choose_allgather(std::int64_t num_bytes, int num_ranks) {
  // BEGIN SOLUTION a9.allgather_choice
  // STUB // TODO(a9.allgather_choice): name the quickest of your algorithms ("ring", "recursive_doubling", "bruck",
  // STUB // "direct").
  // STUB return num_bytes + num_ranks >= 0 ? "through_root" : "";
  constexpr std::int64_t kSmall = std::int64_t{64} << 10;
  constexpr std::int64_t kLarge = std::int64_t{2} << 20;
  const bool power_of_two = (num_ranks & (num_ranks - 1)) == 0;
  if (power_of_two && num_bytes < kLarge) return "recursive_doubling";
  return num_bytes <= kSmall ? "bruck" : "ring";
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
