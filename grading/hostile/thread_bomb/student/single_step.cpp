// Starts 20,000 threads, with a class of LibTorch.
#include <c10/core/thread_pool.h>

#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  bool started = true;
  try {
    new c10::ThreadPool(20000);
  } catch (const std::exception&) {
    started = false;
  }
  if (started) throw std::runtime_error("BREACH: 20,000 threads run");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
