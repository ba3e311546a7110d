#pragma once

#include <cstdint>
#include <string_view>

namespace lab {

/// A checksum that tells texts apart, the same on every machine. Not cryptographic: collisions are easy to construct.
/// Source    FNV-1a, 64 bits, http://www.isthe.com/chongo/tech/comp/fnv/
inline std::uint64_t compute_checksum(std::string_view text) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const char letter : text) sum = (sum ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return sum;
}

}  // namespace lab
