#pragma once

#include <sched.h>

#include <optional>

namespace lab {

/// A core for each rank's thread, as mpirun gives two ranks: else the kernel may leave ranks that wait for each other on
/// one core. None: this process may use fewer cores than there are ranks.
inline std::optional<cpu_set_t> own_core(int rank, int num_ranks) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (::sched_getaffinity(0, sizeof(usable), &usable) != 0 || CPU_COUNT(&usable) < num_ranks) return std::nullopt;
  int core = 0;
  for (int before = 0; before < rank || !CPU_ISSET(core, &usable); ++core) before += CPU_ISSET(core, &usable) ? 1 : 0;
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(core, &own);
  return own;
}

/// The core that the calling thread is on now.
inline std::optional<cpu_set_t> current_core() {
  const int core = ::sched_getcpu();
  if (core < 0 || core >= CPU_SETSIZE) return std::nullopt;
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(core, &own);
  return own;
}

/// Keeps the calling thread, and those that it starts, on these cores while it lives; none: where it was.
class CoreScope {
 public:
  explicit CoreScope(const std::optional<cpu_set_t>& cores) : is_bound_(cores.has_value()) {
    ::sched_getaffinity(0, sizeof(before_), &before_);
    if (is_bound_) ::sched_setaffinity(0, sizeof(*cores), &*cores);
  }
  ~CoreScope() {
    if (is_bound_) ::sched_setaffinity(0, sizeof(before_), &before_);
  }
  CoreScope(const CoreScope&) = delete;
  CoreScope& operator=(const CoreScope&) = delete;

 private:
  cpu_set_t before_{};
  bool is_bound_;
};

}  // namespace lab
