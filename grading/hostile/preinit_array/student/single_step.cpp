// Runs before the filters of system calls are installed: before all constructors.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@

bool opened = false;

void run_early(int, char**, char**) {
  constexpr std::uint64_t kOpen = 2;
  opened = system_call<kOpen>(reinterpret_cast<long>("/usr/bin/env")) >= 0;
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const kEarly)(int, char**, char**) = run_early;

}  // namespace

StepResult single_step(const StepOptions&) {
  if (opened) throw std::runtime_error("BREACH: it ran before the filter");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
