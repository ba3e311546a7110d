// Traces other processes: another rank, or whatever it finds.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@

constexpr std::uint64_t kGetpid = 39, kPtrace = 101;
constexpr long kAttach = 16;

}  // namespace

StepResult single_step(const StepOptions&) {
  const long own = system_call<kGetpid>();
  for (long other = 1; other < own + 100; ++other) {
    if (other != own && system_call<kPtrace>(kAttach, other) == 0)
      throw std::runtime_error("BREACH: it traces another process");
  }
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
