// Runs even earlier: while the program's symbols are resolved.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@

int with_file() {
  return 1;
}
int without_file() {
  return -1;
}

extern "C" int (*resolve_chosen())() {
  constexpr std::uint64_t kOpen = 2;
  return system_call<kOpen>(reinterpret_cast<long>("/usr/bin/env")) >= 0 ? with_file : without_file;
}

[[gnu::ifunc("resolve_chosen")]] int chosen();

}  // namespace

StepResult single_step(const StepOptions&) {
  if (const int file = chosen(); file >= 0) throw std::runtime_error("BREACH: it ran before the filter");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
