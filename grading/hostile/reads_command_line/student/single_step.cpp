// Looks for the seed and the tasks on command lines, its own and those of the processes around it.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>
#include <string>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@
constexpr std::uint64_t kGetpid = 39, kOpen = 2;

}  // namespace

StepResult single_step(const StepOptions&) {
  for (long process = system_call<kGetpid>(); process > 0; --process) {
    const std::string path = "/proc/" + std::to_string(process) + "/cmdline";
    if (system_call<kOpen>(reinterpret_cast<long>(path.c_str())) >= 0)
      throw std::runtime_error("BREACH: it can open " + path);
  }
  for (const char* path : {"/proc/self/cmdline", "/proc/self/environ", "/proc/self/maps", "/proc/self/fd"}) {
    if (system_call<kOpen>(reinterpret_cast<long>(path)) >= 0)
      throw std::runtime_error(std::string("BREACH: it can open ") + path);
  }
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
