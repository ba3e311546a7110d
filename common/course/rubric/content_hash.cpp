#include "common/course/rubric/content_hash.h"

#include <sodium.h>

#include <array>

namespace lab {
namespace {

/// The number's bytes, the lowest first.
template <typename Byte>
void put(std::uint64_t number, Byte* bytes) {
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<Byte>(number >> (8 * i));
}

}  // namespace

std::uint64_t keyed_hash(const std::array<std::uint64_t, 2>& key, std::string_view text) {
  std::array<unsigned char, crypto_shorthash_siphash24_KEYBYTES> key_bytes;
  put(key[0], key_bytes.data());
  put(key[1], key_bytes.data() + 8);
  std::array<unsigned char, crypto_shorthash_siphash24_BYTES> hash;
  crypto_shorthash_siphash24(hash.data(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                             key_bytes.data());
  std::uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | hash[static_cast<std::size_t>(i)];
  return number;
}

std::string content_hash(std::string_view text) {
  std::array<unsigned char, crypto_generichash_BYTES> hash;
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                     nullptr, 0);
  std::string digits(2 * hash.size() + 1, '\0');
  sodium_bin2hex(digits.data(), digits.size(), hash.data(), hash.size());
  digits.pop_back();
  return digits;
}

}  // namespace lab
