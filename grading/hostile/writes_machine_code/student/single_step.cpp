// Makes a page executable, to write machine code there that no audit has seen.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@
constexpr std::uint64_t kMprotect = 10;

}  // namespace

StepResult single_step(const StepOptions&) {
  alignas(4096) static unsigned char page[4096] = {0xC3};
  constexpr long kReadWriteExecute = 7;
  if (system_call<kMprotect>(reinterpret_cast<long>(page), sizeof page, kReadWriteExecute) == 0)
    throw std::runtime_error("BREACH: memory can be written and executed");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
