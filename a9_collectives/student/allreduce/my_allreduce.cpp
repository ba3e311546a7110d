#include "a9_collectives/allreduce.h"
#include "a9_collectives/guards.h"
#include "a9_collectives/two_level.h"

namespace lab::a9 {

std::string choose_allreduce(std::int64_t num_bytes, int num_ranks) {
  // BEGIN SOLUTION a9.allreduce_choice
  // STUB // TODO(a9.allreduce_choice): name the quickest of your algorithms ("recursive_doubling", "ring",
  // STUB // "rabenseifner", "direct").
  // STUB return num_bytes + num_ranks >= 0 ? "gather_broadcast" : "";
  constexpr std::int64_t kSmall = std::int64_t{128} << 10;
  constexpr std::int64_t kMedium = std::int64_t{512} << 10;
  constexpr std::int64_t kLarge = std::int64_t{8} << 20;
  constexpr int kFew = 4;
  const bool power_of_two = (num_ranks & (num_ranks - 1)) == 0;
  if (num_bytes <= kSmall) return "recursive_doubling";
  if (num_ranks > kFew || num_bytes <= kMedium) return power_of_two ? "rabenseifner" : "ring";
  return num_bytes < kLarge ? "direct" : "ring";
  // END SOLUTION a9.allreduce_choice
}

at::Tensor my_allreduce(at::Tensor tensor, PointToPoint& p2p) {
  if (p2p.size() == 1) return tensor;
  p2p.agree("my_allreduce", tensor);
  const c10::NoGradGuard no_grad;
  const auto num_bytes = static_cast<std::int64_t>(tensor.nbytes());
  const std::string algorithm = choose_allreduce(num_bytes, p2p.size());
  if (algorithm != "gather_broadcast" && prefers_two_levels(num_bytes, p2p)) return allreduce_two_level(tensor, p2p);
  if (algorithm == "recursive_doubling") return allreduce_recursive_doubling(tensor, p2p);
  if (algorithm == "rabenseifner") return allreduce_rabenseifner(tensor, p2p);
  if (algorithm == "ring") return allreduce_ring(tensor, p2p);
  if (algorithm == "ring_segmented") return allreduce_ring_segmented(tensor, p2p);
  if (algorithm == "direct") return allreduce_direct(tensor, p2p);
  if (algorithm == "gather_broadcast") return allreduce_gather_broadcast(tensor, p2p);
  refuse_algorithm("choose_allreduce", algorithm,
                   {"gather_broadcast", "recursive_doubling", "ring", "ring_segmented", "rabenseifner", "direct"});
}

}  // namespace lab::a9
