#include "common/tensor/picture_bytes.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "common/report/errors.h"
#include "common/tensor/crc32.h"
#include "common/tensor/picture_bytes_jpeg.h"

namespace lab {
namespace {

constexpr std::string_view kPngStart = "\x89PNG\r\n\x1a\n";
constexpr std::string_view kJpegStart = "\xFF\xD8\xFF";

bool starts_with(std::string_view bytes, std::string_view start) {
  return bytes.substr(0, start.size()) == start;
}

/// What a file that is neither seems to be.
std::string guess(std::string_view bytes) {
  struct Kind {
    size_t offset;
    std::string_view start;
    const char* words;
  };
  static constexpr std::array<Kind, 9> kKinds = {{{0, "GIF8", "a GIF"},
                                                  {0, "BM", "a BMP"},
                                                  {8, "WEBP", "a WebP"},
                                                  {4, "ftyp", "a HEIC, AVIF or video"},
                                                  {0, {"II*\0", 4}, "a TIFF"},
                                                  {0, {"MM\0*", 4}, "a TIFF"},
                                                  {0, "%PDF", "a PDF"},
                                                  {0, "P6", "a PPM"},
                                                  {0, "<", "an SVG or HTML"}}};
  for (const Kind& kind : kKinds) {
    if (bytes.size() > kind.offset && starts_with(bytes.substr(kind.offset), kind.start))
      return fmt::format("it seems to be {} file", kind.words);
  }
  std::string start;
  for (const char byte : bytes.substr(0, 4)) start += fmt::format(" {:02x}", static_cast<unsigned char>(byte));
  return "it begins with the bytes" + start;
}

uint32_t big_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

/// A PNG is a row of chunks, the last of them IEND: size of the data, type, data, checksum of type and data.
void check_png(std::string_view bytes, const std::string& name) {
  for (size_t place = kPngStart.size();;) {
    if (bytes.size() - place < 12) refuse_short_picture(bytes, name);
    const size_t data_bytes = big_endian(bytes.substr(place, 4));
    if (bytes.size() - place - 12 < data_bytes) refuse_short_picture(bytes, name);
    const uint32_t checksum = big_endian(bytes.substr(place + 8 + data_bytes, 4));
    if (crc32(bytes.substr(place + 4, 4 + data_bytes)) != checksum)
      refuse_picture(name, fmt::format("it is damaged between bytes {} and {}", place, place + 12 + data_bytes));
    if (bytes.substr(place + 4, 4) == "IEND") return;
    place += 12 + data_bytes;
  }
}

}  // namespace

void refuse_picture(const std::string& name, const std::string& reason) {
  throw UsageError(fmt::format("'{}' is not a usable picture: {}.", name, reason));
}

void refuse_short_picture(std::string_view bytes, const std::string& name) {
  refuse_picture(name,
                 fmt::format("it ends after {} bytes, before the picture does; hint: copy it again", bytes.size()));
}

PictureFormat check_picture_bytes(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) refuse_picture(name, "it is empty");
  if (starts_with(bytes, kPngStart)) {
    check_png(bytes, name);
    return PictureFormat::kPng;
  }
  if (!starts_with(bytes, kJpegStart)) {
    // A start of one of the two that is not all there is a file that was cut short.
    if (starts_with(kPngStart, bytes) || starts_with(kJpegStart, bytes)) refuse_short_picture(bytes, name);
    refuse_picture(name, fmt::format("expected a PNG or a JPEG file, but {}", guess(bytes)));
  }
  check_jpeg_segments(bytes, name);
  return PictureFormat::kJpeg;
}

}  // namespace lab
