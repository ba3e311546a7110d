// Reads, changes and removes files in the grader's home.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>
#include <string>

namespace lab::a4 {
namespace {

@SYSTEM_CALL@
constexpr std::uint64_t kOpen = 2, kUnlink = 87;

}  // namespace

StepResult single_step(const StepOptions&) {
  constexpr long kReadWrite = 2;
  for (const char* path : {"@HOME@/secret.txt", "@HOME@", "/root", "/home", "/etc/passwd"}) {
    if (system_call<kOpen>(reinterpret_cast<long>(path)) >= 0)
      throw std::runtime_error(std::string("BREACH: it can open ") + path);
  }
  if (system_call<kOpen>(reinterpret_cast<long>("@HOME@/secret.txt"), kReadWrite) >= 0 ||
      system_call<kUnlink>(reinterpret_cast<long>("@HOME@/secret.txt")) == 0)
    throw std::runtime_error("BREACH: it can change a file of the grader");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
