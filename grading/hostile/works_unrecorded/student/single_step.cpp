// Computes past the dispatcher's front door, where work is counted.
#include <ATen/RedispatchFunctions.h>

#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  const at::Tensor x = at::ones({64, 64});
  const c10::InferenceMode no_autograd;
  if (at::redispatch::mm(c10::DispatchKeySet(c10::DispatchKey::CPU), x, x).defined())
    throw std::runtime_error("BREACH: it can work unseen");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
