#include "common/base/keyed_hash.h"

#include <cstddef>

namespace lab {
namespace {

std::uint64_t rotated(std::uint64_t word, int bits) {
  return (word << bits) | (word >> (64 - bits));
}

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v1 = rotated(v1, 13) ^ v0;
      v0 = rotated(v0, 32);
      v2 += v3;
      v3 = rotated(v3, 16) ^ v2;
      v0 += v3;
      v3 = rotated(v3, 21) ^ v0;
      v2 += v1;
      v1 = rotated(v1, 17) ^ v2;
      v2 = rotated(v2, 32);
    }
  }
  void add(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
};

/// Up to 8 bytes, the first of them the lowest.
std::uint64_t word_of(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return word;
}

}  // namespace

std::uint64_t keyed_hash(const std::array<std::uint64_t, 2>& key, std::string_view text) {
  SipState state = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
                    key[1] ^ 0x7465646279746573};
  const std::uint64_t last_byte = text.size() & 0xff;
  for (; text.size() >= 8; text.remove_prefix(8)) state.add(word_of(text.substr(0, 8)));
  state.add(word_of(text) | last_byte << 56);
  state.v2 ^= 0xff;
  state.rounds(4);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace lab
