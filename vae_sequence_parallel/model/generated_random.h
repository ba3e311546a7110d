#pragma once

#include <cstdint>

#include "common/tensor/mixing.h"

namespace lab::vae {

/// Random numbers that depend on the seed only, the same on every machine, unlike the standard library's distributions.
class GeneratedRandom {
 public:
  explicit GeneratedRandom(uint64_t seed) : next_(splitmix64(seed)) {}

  uint32_t bits() { return static_cast<uint32_t>(splitmix64(next_++) >> 32); }

  /// One of 0 .. count - 1.
  uint32_t below(uint32_t count) { return static_cast<uint32_t>(uint64_t{bits()} * count >> 32); }

  /// Uniform, low <= value <= high; 24 random bits, as many as a float holds.
  float between(float low, float high) {
    return low + (high - low) * (static_cast<float>(bits() >> 8) * (1.0F / 16777216.0F));
  }

  /// Mean 0, variance 1, between -3.5 and 3.5, nearly normal: four uniform numbers, each of variance 1/12, summed.
  float bell() {
    float sum = -2.0F;
    for (int i = 0; i < 4; ++i) sum += between(0.0F, 1.0F);
    return sum * 1.7320508F;
  }

 private:
  uint64_t next_;
};

}  // namespace lab::vae
