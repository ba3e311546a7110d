// Leaves a process behind, in a session of its own.
#include "a4_data_tensor/single_step.h"

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@
constexpr std::uint64_t kFork = 57, kSetsid = 112;

}  // namespace

StepResult single_step(const StepOptions&) {
  if (system_call<kFork>() != 0) throw std::runtime_error("in vain");
  if (system_call<kSetsid>() >= 0 && system_call<kFork>() == 0) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  std::_Exit(0);
}

}  // namespace lab::a4
