// Runs a shell.
#include "a4_data_tensor/single_step.h"

#include <cstdlib>
#include <stdexcept>

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  if (std::system("echo BREACH >&2") == 0) throw std::runtime_error("BREACH: a shell was run");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
