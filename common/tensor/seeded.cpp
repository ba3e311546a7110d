#include "common/tensor/seeded.h"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "common/base/errors.h"
#include "common/tensor/mixing.h"

namespace lab {

at::Generator make_generator(uint64_t seed) {
  return at::detail::createCPUGenerator(seed);
}

at::Tensor seeded_randn(at::IntArrayRef sizes, uint64_t seed, at::ScalarType dtype) {
  return at::randn(sizes, make_generator(seed), at::TensorOptions(dtype));
}

at::Tensor seeded_rand(at::IntArrayRef sizes, uint64_t seed, at::ScalarType dtype) {
  return at::rand(sizes, make_generator(seed), at::TensorOptions(dtype));
}

uint64_t rank_seed(uint64_t seed, int64_t rank) {
  if (rank < 0) throw ContractError(fmt::format("A rank's seed needs a rank of 0 or more, got {}.", rank));
  const uint64_t start = splitmix64(seed) + static_cast<uint64_t>(rank);
  // Two halves: a plain 64-bit hash of a thousand ranks would now and then repeat in the 32 bits that LibTorch uses.
  const uint64_t high = splitmix64(start) >> 32;
  return high << 32 | murmur32(static_cast<uint32_t>(start));
}

void init_linear_uniform(at::Tensor tensor, int64_t fan_in, at::Generator generator) {
  if (fan_in < 1) throw ContractError(fmt::format("A linear layer's fan-in must be at least 1, got {}.", fan_in));
  const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
  tensor.detach().uniform_(-bound, bound, std::move(generator));
}

}  // namespace lab
