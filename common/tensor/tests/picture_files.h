#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "common/tensor/files/crc32.h"
#include "common/tensor/seeded.h"

// Pictures to write, and PNG files made by hand, of kinds that the labs never write.
namespace lab_test {

/// Random samples, so that a moved one is detected.
inline at::Tensor noise_picture(int64_t height, int64_t width) {
  return lab::seeded_rand({height, width, 3}, 7).mul(256).to(at::kByte);
}

/// Red grows to the right, green downwards.
inline at::Tensor smooth_picture(int64_t height, int64_t width) {
  const at::Tensor right = at::arange(width).mul(3).add(20).clamp_max(250).expand({height, width});
  const at::Tensor down = at::arange(height).mul(3).add(40).clamp_max(250).unsqueeze(1).expand({height, width});
  return at::stack({right, down, at::full({height, width}, 90, at::kLong)}, 2).to(at::kByte).contiguous();
}

inline std::string big_endian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

/// Size, type, data, checksum.
inline std::string png_chunk(const std::string& type, const std::string& data) {
  return big_endian(static_cast<uint32_t>(data.size())) + type + data + big_endian(lab::crc32(type + data));
}

enum class PngColour : char { kGrey = 0, kRgb = 2, kPalette = 3, kGreyAlpha = 4, kRgba = 6 };

/// A PNG of these rows, each a filter's number and samples; at most 65535 bytes, since they are stored as they are. The
/// zlib stream's own checksum is left 0: it is not checked.
inline std::string png_bytes(uint32_t height, uint32_t width, char bits, PngColour colour, const std::string& rows) {
  std::string header = big_endian(width) + big_endian(height) + bits + static_cast<char>(colour) + std::string(3, '\0');
  const auto low = static_cast<char>(rows.size() & 0xFF), high = static_cast<char>(rows.size() >> 8);
  const std::string stored =
      std::string("\x78\x01\x01") + low + high + static_cast<char>(~low) + static_cast<char>(~high);
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("IDAT", stored + rows + std::string(4, '\0')) +
         png_chunk("IEND", "");
}

}  // namespace lab_test
