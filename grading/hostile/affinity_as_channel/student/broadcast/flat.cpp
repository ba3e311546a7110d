// Tells other ranks a number by the CPUs that it asks for, its priority and its limits.
#include "a9_collectives/broadcast.h"

#include <stdexcept>

namespace lab::a9 {
namespace {

@SYSTEM_CALL@
constexpr std::uint64_t kSchedSetaffinity = 203, kSetpriority = 141, kSetrlimit = 160;

}  // namespace

at::Tensor broadcast_flat(at::Tensor, int, PointToPoint&) {
  const long cpus[16] = {1};
  const bool by_cpus = system_call<kSchedSetaffinity>(0, sizeof cpus, reinterpret_cast<long>(cpus)) >= 0;
  const bool by_priority = system_call<kSetpriority>(0, 0, 7) >= 0;
  const long limit[2] = {4711, 4711};
  const bool by_limit = system_call<kSetrlimit>(0, reinterpret_cast<long>(limit)) >= 0;
  if (by_cpus || by_priority || by_limit) throw std::runtime_error("BREACH: it can tell others a number");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a9
