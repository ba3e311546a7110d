// Defines the function with which a rank installs its filter, and has it do nothing.
#include "a4_data_tensor/single_step.h"

#include <cstdarg>
#include <stdexcept>

namespace {

@SYSTEM_CALL@
}  // namespace

extern "C" long syscall(long number, ...) noexcept {
  constexpr std::uint64_t kSeccomp = 317, kCloseRange = 436;
  if (number == kSeccomp) return 0;
  va_list rest;
  va_start(rest, number);
  const long first = va_arg(rest, long), second = va_arg(rest, long), third = va_arg(rest, long);
  va_end(rest);
  return number == kCloseRange ? system_call<kCloseRange>(first, second, third) : -1;
}

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  constexpr std::uint64_t kOpen = 2;
  if (system_call<kOpen>(reinterpret_cast<long>("/usr/bin/env")) >= 0)
    throw std::runtime_error("BREACH: there is no filter");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
