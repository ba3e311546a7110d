// Defines operator new, which constructors of libraries call before the program begins.
#include "a4_data_tensor/single_step.h"

#include <cstdlib>
#include <new>
#include <stdexcept>

namespace {

@SYSTEM_CALL@
bool opened = false;

}  // namespace

void* operator new(std::size_t size) {
  constexpr std::uint64_t kOpen = 2;
  opened = opened || system_call<kOpen>(reinterpret_cast<long>("/usr/bin/env")) >= 0;
  return std::malloc(size);
}

void operator delete(void* place) noexcept {
  std::free(place);
}
void operator delete(void* place, std::size_t) noexcept {
  std::free(place);
}

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  if (opened) throw std::runtime_error("BREACH: it ran before the filter");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
