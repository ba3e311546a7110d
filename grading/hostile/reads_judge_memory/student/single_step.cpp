// Reads the memory of the process that started it, and takes its descriptors.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>
#include <string>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@
constexpr std::uint64_t kOpen = 2, kGetppid = 110, kPidfdOpen = 434, kPidfdGetfd = 438;

}  // namespace

StepResult single_step(const StepOptions&) {
  const long parent = system_call<kGetppid>();
  for (const char* file : {"mem", "maps", "environ"}) {
    const std::string path = "/proc/" + std::to_string(parent) + "/" + file;
    if (system_call<kOpen>(reinterpret_cast<long>(path.c_str())) >= 0)
      throw std::runtime_error("BREACH: " + path + " is open");
  }
  const long process = system_call<kPidfdOpen>(parent);
  for (long descriptor = 0; descriptor < 100; ++descriptor) {
    if (system_call<kPidfdGetfd>(process, descriptor) >= 0)
      throw std::runtime_error("BREACH: it has a descriptor of its parent");
  }
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
