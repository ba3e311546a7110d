#pragma once

#include <cstdint>

namespace lab {

/// A bijection of 64-bit numbers whose every output bit depends on every input bit.
/// Source    Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014
constexpr uint64_t splitmix64(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// The same for 32 bits.
/// Source    Appleby: MurmurHash3, its finalizer
constexpr uint32_t murmur32(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
  x = (x ^ (x >> 13)) * 0xC2B2AE35u;
  return x ^ (x >> 16);
}

}  // namespace lab
