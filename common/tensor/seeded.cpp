#include "common/tensor/seeded.h"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>
#include <sodium.h>

#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "common/api/errors.h"
#include "common/tensor/mixing.h"

namespace lab {

at::Generator make_generator(uint64_t seed) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  if (seed >> 32 == 0) return generator;
  std::array<unsigned char, randombytes_SEEDBYTES> key{};
  std::memcpy(key.data(), &seed, sizeof seed);
  at::mt19937 engine(seed);
  at::mt19937_data_pod data = engine.data();
  randombytes_buf_deterministic(data.state_.data(), sizeof data.state_, key.data());
  engine.set_data(data);
  at::check_generator<at::CPUGeneratorImpl>(generator)->set_engine(engine);
  return generator;
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
