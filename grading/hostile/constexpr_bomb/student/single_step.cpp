// Has the compiler count to a billion, in steps that each stay below its limit.
#include "a4_data_tensor/single_step.h"

#include <stdexcept>
#include <utility>

namespace lab::a4 {
namespace {

constexpr std::uint64_t count(std::uint64_t from) {
  for (int i = 0; i < 200000; ++i) from = from * 3 + 1;
  return from;
}
template <std::uint64_t kFrom>
constexpr std::uint64_t kCounted = count(kFrom);

template <std::size_t... kEach>
std::uint64_t count_all(std::index_sequence<kEach...>) {
  return (kCounted<kEach> + ...);
}

}  // namespace

StepResult single_step(const StepOptions&) {
  throw std::runtime_error(std::to_string(count_all(std::make_index_sequence<5000>())));
}

}  // namespace lab::a4
