// Has LibTorch look up a function of the C library.
#include <ATen/DynamicLibrary.h>

#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  int (*start)() = nullptr;
  try {
    at::DynamicLibrary library("libc.so.6");
    start = reinterpret_cast<int (*)()>(library.sym("fork"));
  } catch (const std::exception&) {
  }
  if (start != nullptr && start() >= 0) throw std::runtime_error("BREACH: a process was started");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
