// An object file of 64 GiB.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {
namespace {

volatile std::uint8_t huge[std::size_t{1} << 36] = {1};

}  // namespace

StepResult single_step(const StepOptions&) {
  throw std::runtime_error(std::to_string(huge[0]));
}

}  // namespace lab::a4
