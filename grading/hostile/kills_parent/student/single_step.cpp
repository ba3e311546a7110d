// Kills the process that started it.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@

constexpr std::uint64_t kGetppid = 110, kKill = 62;
constexpr long kSigkill = 9;

}  // namespace

StepResult single_step(const StepOptions&) {
  const long parent = system_call<kGetppid>();
  if (parent > 1 && system_call<kKill>(parent, kSigkill) == 0)
    throw std::runtime_error("BREACH: the parent was killed");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
