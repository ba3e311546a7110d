// Writes to descriptors that the judge may have forgotten to close.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>
#include <string>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@
constexpr std::uint64_t kWrite = 1;

}  // namespace

StepResult single_step(const StepOptions&) {
  constexpr long kFirstBeyondTheRelay = 4;
  for (long descriptor = kFirstBeyondTheRelay; descriptor <= 100; ++descriptor) {
    if (system_call<kWrite>(descriptor, reinterpret_cast<long>("forged"), 6) > 0)
      throw std::runtime_error("BREACH: descriptor " + std::to_string(descriptor) + " can be written to");
  }
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
