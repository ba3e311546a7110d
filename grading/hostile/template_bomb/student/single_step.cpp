// Instantiates 2^40 templates.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>

namespace lab::a4 {
namespace {

template <int kDepth, std::uint64_t kPath>
struct Twice {
  static constexpr std::uint64_t kSum = Twice<kDepth - 1, 2 * kPath>::kSum + Twice<kDepth - 1, 2 * kPath + 1>::kSum;
};
template <std::uint64_t kPath>
struct Twice<0, kPath> {
  static constexpr std::uint64_t kSum = 1;
};

}  // namespace

StepResult single_step(const StepOptions&) {
  throw std::runtime_error(std::to_string(Twice<40, 0>::kSum));
}

}  // namespace lab::a4
