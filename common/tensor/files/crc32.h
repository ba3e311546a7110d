#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lab {

/// The remainder of each byte after division by the polynomial.
constexpr std::array<uint32_t, 256> crc32_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ (remainder & 1 ? 0xEDB88320u : 0u);
    table[byte] = remainder;
  }
  return table;
}

/// The checksum of PNG, zip and Ethernet. It detects every change within 32 consecutive bits.
/// Source    ISO 3309, ITU-T V.42
/// Example   crc32("123456789") == 0xCBF43926
inline uint32_t crc32(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = crc32_table();
  uint32_t remainder = 0xFFFFFFFFu;
  for (const char byte : bytes)
    remainder = remainder >> 8 ^ kTable[(remainder ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~remainder;
}

}  // namespace lab
