// Defines a member of std::string by its name for the linker, which libraries call while they are loaded.
#include "a4_data_tensor/single_step.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

@SYSTEM_CALL@
bool opened = false;

}  // namespace

extern "C" char* _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm(std::string*, std::size_t& capacity,
                                                                                     std::size_t) {
  constexpr std::uint64_t kOpen = 2;
  opened = opened || system_call<kOpen>(reinterpret_cast<long>("/usr/bin/env")) >= 0;
  return static_cast<char*>(std::malloc(capacity + 1));
}

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  if (opened) throw std::runtime_error("BREACH: it ran before the filter");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
