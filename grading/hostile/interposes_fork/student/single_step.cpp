// Defines fork(), with which the server of ranks makes them: where it says that it is the child, but is not, the
// filter of a rank is not there.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace {

@SYSTEM_CALL@
bool opened = false;

}  // namespace

extern "C" int fork() {
  constexpr std::uint64_t kOpen = 2, kFork = 57;
  opened = opened || system_call<kOpen>(reinterpret_cast<long>("/usr/bin/env")) >= 0;
  return static_cast<int>(system_call<kFork>());
}

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  if (opened) throw std::runtime_error("BREACH: it ran before the filter");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
