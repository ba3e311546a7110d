// Reads how much CPU time other processes have used, and how busy the machine is.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@
constexpr std::uint64_t kClockGettime = 228, kSysinfo = 99;

/// The number of a process's CPU clock.
long clock_of(unsigned process) {
  return static_cast<int>(~process << 3 | 2);
}

}  // namespace

StepResult single_step(const StepOptions&) {
  long room[32] = {};
  const long place = reinterpret_cast<long>(room);
  for (unsigned process = 0; process < 5000; ++process)
    if (system_call<kClockGettime>(clock_of(process), place) >= 0)
      throw std::runtime_error("BREACH: it can read the CPU time of others");
  if (system_call<kSysinfo>(place) >= 0) throw std::runtime_error("BREACH: it can see how busy the machine is");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
