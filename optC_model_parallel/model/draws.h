#pragma once

#include <ATen/ATen.h>

#include <cstdint>

#include "common/tensor/mixing.h"
#include "optC_model_parallel/model/model.h"

namespace lab::optc {

/// Random numbers that depend only on the seed, the same on every machine: those of the standard's distributions are
/// not, and those of LibTorch may change between versions.
class PortableRandom {
 public:
  explicit PortableRandom(std::uint64_t seed) : next_(splitmix64(seed)) {}

  /// One of 0 .. count - 1, all equally likely to within count / 2^32.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>((splitmix64(next_++) >> 32) * static_cast<std::uint64_t>(count) >> 32);
  }

  /// low <= value <= high
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }

 private:
  std::uint64_t next_;
};

/// A tensor as first_parameters() returns it, in float64.
at::Tensor draw_parameter(const ParameterSpec& spec, std::uint64_t seed);

}  // namespace lab::optc
