// Prints a character a second for ever: it looks alive.
#include "a4_data_tensor/single_step.h"

#include <chrono>
#include <cstdio>
#include <thread>

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  for (;;) {
    std::fputc('.', stderr);
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

}  // namespace lab::a4
