// Runs before the constructors of the program that it is linked into.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@

bool opened = false;

[[gnu::constructor(101)]] void run_early() {
  constexpr std::uint64_t kOpen = 2;
  opened = system_call<kOpen>(reinterpret_cast<long>("/usr/bin/env")) >= 0;
}

}  // namespace

StepResult single_step(const StepOptions&) {
  if (opened) throw std::runtime_error("BREACH: it ran before the filter");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
