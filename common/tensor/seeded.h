#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace lab {

/// A private generator: ranks that are threads share LibTorch's default one, so nothing here touches that. Its numbers
/// are bitwise those after torch.manual_seed(seed) if the seed has 32 bits. LibTorch uses no more, few enough to try all of
/// them: for a longer seed they follow from all of its bits, and the seed does not follow from them.
at::Generator make_generator(uint64_t seed);

/// A hash of a seed as another seed, for make_generator(): no longer than the first.
inline uint64_t derived_seed(uint64_t seed, uint64_t hash) {
  return seed >> 32 == 0 ? hash & 0xFFFFFFFF : hash;
}

/// Standard normal values, those of torch.manual_seed(seed); torch.randn(sizes).
at::Tensor seeded_randn(at::IntArrayRef sizes, uint64_t seed, at::ScalarType dtype = at::kFloat);

/// Values in [0, 1), those of torch.manual_seed(seed); torch.rand(sizes).
at::Tensor seeded_rand(at::IntArrayRef sizes, uint64_t seed, at::ScalarType dtype = at::kFloat);

/// A seed per rank, unrelated between ranks and between seeds. The seeds of any two ranks differ in their low 32 bits.
/// Errors    ContractError: a negative rank
uint64_t rank_seed(uint64_t seed, int64_t rank);

/// Fills a weight or bias as nn::Linear does, bitwise, without the default generator.
/// Aliasing  fills the tensor itself, even if it requires a gradient
/// Errors    ContractError: fan_in < 1
void init_linear_uniform(at::Tensor tensor, int64_t fan_in, at::Generator generator);

}  // namespace lab
