// Sleeps for ever, which takes no CPU time.
#include "a4_data_tensor/single_step.h"

#include <chrono>
#include <thread>

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace lab::a4
