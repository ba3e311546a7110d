#pragma once

#include <cstdint>
#include <string>

namespace lab_test {

/// A number as the format stores it: 8 bytes, the lowest first.
inline std::string little_endian(uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
  return bytes;
}

/// A file made by hand: the size of the header, the header, the buffer.
inline std::string safetensors_bytes(const std::string& header, const std::string& buffer) {
  return little_endian(header.size()) + header + buffer;
}

}  // namespace lab_test
