// Has the assembler put the reference into the object, whose code it could then call.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {
namespace {

// What follows the name, up to the #, is the assembler's.
[[gnu::section(".rodata.reference\n.incbin \"@BUILD@/a9_collectives/liba9_student.a\" #"), gnu::used]]
const volatile char after_reference[64] = {};

}  // namespace

StepResult single_step(const StepOptions&) {
  const volatile char* end = after_reference;
  for (int i = 1; i <= 64; ++i) {
    if (end[-i] != 0) throw std::runtime_error("BREACH: the reference is in this object");
  }
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
