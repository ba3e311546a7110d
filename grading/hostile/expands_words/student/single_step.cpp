// Has the C library run a shell, to expand a word.
#include <wordexp.h>

#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  wordexp_t words;
  if (wordexp("$(echo BREACH)", &words, 0) == 0) throw std::runtime_error("BREACH: a shell was run");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
