// Defines operator new as a weak symbol, as a template's instance is.
#include "a4_data_tensor/single_step.h"

#include <cstdlib>
#include <new>
#include <stdexcept>

namespace {

@SYSTEM_CALL@
bool opened = false;

}  // namespace

__attribute__((weak)) void* operator new(std::size_t size) {
  constexpr std::uint64_t kOpen = 2;
  opened = opened || system_call<kOpen>(reinterpret_cast<long>("/usr/bin/env")) >= 0;
  return std::malloc(size);
}

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  if (opened) throw std::runtime_error("BREACH: it ran before the filter");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
