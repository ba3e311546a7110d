// Connects to a server on the grader's machine.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@
constexpr std::uint64_t kSocket = 41, kConnect = 42;

}  // namespace

StepResult single_step(const StepOptions&) {
  constexpr long kInternet = 2, kStream = 1;
  constexpr std::uint16_t kPort = @PORT@;
  const unsigned char address[16] = {2, 0, kPort >> 8, kPort & 0xFF, 127, 0, 0, 1};
  const long socket = system_call<kSocket>(kInternet, kStream);
  system_call<kConnect>(socket, reinterpret_cast<long>(address), sizeof address);
  if (socket >= 0) throw std::runtime_error("BREACH: it can make a socket");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
