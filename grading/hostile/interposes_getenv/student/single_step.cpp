// Defines getenv(), which libraries call while they are loaded.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace {

@SYSTEM_CALL@
bool opened = false;

}  // namespace

extern "C" char* getenv(const char*) {
  constexpr std::uint64_t kOpen = 2;
  opened = opened || system_call<kOpen>(reinterpret_cast<long>("/usr/bin/env")) >= 0;
  return nullptr;
}

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  if (opened) throw std::runtime_error("BREACH: it ran before the filter");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
