#include "common/tensor/files/picture.h"

#include <fmt/format.h>
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/base/files.h"
#include "common/tensor/files/crc32.h"
#include "common/tensor/files/mapped_file.h"

namespace lab {
namespace {

enum class PictureFormat { kPng, kJpeg };

/// Throws the UsageError for a file that is not a picture.
[[noreturn]] void refuse_picture(const std::string& name, const std::string& reason) {
  throw UsageError(fmt::format("'{}' is not a usable picture: {}.", name, reason));
}

/// The same for a truncated picture.
[[noreturn]] void refuse_short_picture(std::string_view bytes, const std::string& name) {
  refuse_picture(name,
                 fmt::format("it ends after {} bytes, before the picture does; hint: copy it again", bytes.size()));
}

/// The same for a JPEG that our decoder refuses, although others may be content with it.
[[noreturn]] void refuse_jpeg(const std::string& name, const std::string& reason) {
  refuse_picture(name, reason + "; other programs may open it with a warning; hint: save it there as PNG");
}

// A JPEG is a sequence of segments: FF, a marker, the segment's size (with its own two bytes) and data.
constexpr int kHuffmanTables = 0xC4, kFirstRestart = 0xD0, kLastRestart = 0xD7, kEnd = 0xD9, kStartOfScan = 0xDA;

class Jpeg {
 public:
  Jpeg(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  int byte(size_t place) const {
    if (place >= bytes_.size()) refuse_short_picture(bytes_, name_);
    return static_cast<unsigned char>(bytes_[place]);
  }
  int64_t segment_bytes(size_t place) const { return byte(place) << 8 | byte(place + 1); }

  /// Each table is a byte, how many codes have 1 .. 16 bits, and a byte per code. Reads past the segment's end, as the
  /// decoder does.
  void check_huffman_tables(size_t place) const {
    int64_t left = segment_bytes(place) - 2;
    for (place += 2; left > 0;) {
      int num_codes = 0;
      for (size_t bits = 1; bits <= 16; ++bits) num_codes += byte(place + bits);
      if (num_codes > 256)
        refuse_jpeg(name_, fmt::format("the table at byte {} has {} codes, expected at most 256", place, num_codes));
      place += static_cast<size_t>(17 + num_codes);
      left -= 17 + num_codes;
    }
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
};

/// Checks that the JPEG is complete, from its start to its end marker, and that its Huffman tables have at most 256
/// codes each: with more, the decoder would write out of bounds.
/// Errors    UsageError: truncated; something else where a segment should begin; such a table
/// Source    ITU-T T.81, annex B
void check_jpeg_segments(std::string_view bytes, const std::string& name) {
  const Jpeg jpeg(bytes, name);
  bool in_scan = false;  // samples follow a start of scan: a 00 after each FF that is not a marker, and restart markers
  for (size_t place = 2;;) {
    if (jpeg.byte(place) != 0xFF) {
      if (!in_scan)
        refuse_jpeg(name,
                    fmt::format("byte {} is {:02x}, expected ff, which starts a segment", place, jpeg.byte(place)));
      place += 1;
      continue;
    }
    const int marker = jpeg.byte(place + 1);
    if (marker == 0xFF) {
      place += 1;  // any number of FF may stand before a marker
    } else if (in_scan && (marker == 0x00 || (kFirstRestart <= marker && marker <= kLastRestart))) {
      place += 2;
    } else if (marker == kEnd) {
      return;
    } else {
      if (marker == kHuffmanTables) jpeg.check_huffman_tables(place + 2);
      in_scan = marker == kStartOfScan;
      place += 2 + static_cast<size_t>(jpeg.segment_bytes(place + 2));
    }
  }
}

constexpr std::string_view kPngStart = "\x89PNG\r\n\x1a\n";
constexpr std::string_view kJpegStart = "\xFF\xD8\xFF";

bool starts_with(std::string_view bytes, std::string_view start) {
  return bytes.substr(0, start.size()) == start;
}

/// What a file that is neither PNG nor JPEG seems to be.
std::string guess(std::string_view bytes) {
  struct Kind {
    size_t offset;
    std::string_view start;
    const char* description;
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
      return fmt::format("it seems to be {} file", kind.description);
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

/// A PNG is a sequence of chunks, the last of them IEND: size of the data, type, data, checksum of type and data.
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

/// The format of a picture file, by its content, after checking that the file is complete. The decoder itself would
/// fill up a truncated JPEG with grey, and ignores a PNG's checksums. Bytes after the picture's end are ignored.
/// Errors    UsageError: empty; neither PNG nor JPEG; truncated; a PNG with a wrong checksum, a JPEG with malformed
///           segments. The message contains `name`
/// Source    https://www.w3.org/TR/png
PictureFormat check_picture_bytes(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) refuse_picture(name, "it is empty");
  if (starts_with(bytes, kPngStart)) {
    check_png(bytes, name);
    return PictureFormat::kPng;
  }
  if (!starts_with(bytes, kJpegStart)) {
    // An incomplete signature of one of the two means that the file is truncated.
    if (starts_with(kPngStart, bytes) || starts_with(kJpegStart, bytes)) refuse_short_picture(bytes, name);
    refuse_picture(name, fmt::format("expected a PNG or a JPEG file, but {}", guess(bytes)));
  }
  check_jpeg_segments(bytes, name);
  return PictureFormat::kJpeg;
}

constexpr int kChannels = 3;

/// Before the decoder sees it, which calls what is too large damaged.
void check_size(int64_t height, int64_t width, const std::string& name) {
  constexpr int64_t kMostPixels = kMaxPictureSamples / kChannels;
  if (width == 0 || height <= kMostPixels / width) return;
  refuse_picture(name, fmt::format("it is too large: {} x {} pixels, expected at most {}", height, width, kMostPixels));
}

constexpr int64_t kMaxJpegSize = 65535;         // the format's: 16 bits
constexpr int64_t kMaxJpegPixelsPerByte = 512;  // a block of 8 x 8 takes a bit at least

/// Whether what stb says last is only that a file is not of one format: it tries one after the other.
bool is_other_format(std::string_view reason) {
  return reason == "bad png sig" || reason == "no SOI" || reason == "unknown image type";
}

/// Why stb refused the last file.
std::string decoder_message() {
  std::string reason = stbi_failure_reason();
  if (is_other_format(reason)) return "its header is damaged, or of a kind that the decoder does not know";
  for (char& letter : reason) {
    if (letter < ' ' || letter > '~') letter = '?';  // a damaged chunk's name
  }
  return "the decoder says: " + reason;
}

/// Called by stb with the next part of a file.
void append(void* text, void* bytes, int num_bytes) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), static_cast<size_t>(num_bytes));
}

/// Encodes with stb's function for the format, whose last argument depends on the format.
template <typename Encoder>
std::string encoded(const at::Tensor& picture, Encoder encoder, int last_argument) {
  const at::Tensor samples = picture.contiguous();
  const int height = static_cast<int>(samples.size(0));
  const int width = static_cast<int>(samples.size(1));
  std::string text;
  if (encoder(append, &text, width, height, kChannels, samples.data_ptr(), last_argument) == 0) throw std::bad_alloc();
  return text;
}

std::string lower_case_ending(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  return ending;
}

}  // namespace

void check_picture(const at::Tensor& picture) {
  const bool is_picture = picture.defined() && picture.scalar_type() == at::kByte && picture.dim() == 3 &&
                          picture.size(2) == kChannels && picture.device().is_cpu() && picture.numel() > 0 &&
                          picture.numel() <= kMaxPictureSamples;
  if (is_picture) return;
  throw ContractError(fmt::format("A picture is uint8 [height, width, 3] on the CPU with 1 to 2^28 samples, got {}.",
                                  describe(picture)));
}

at::Tensor decode_picture(std::string_view bytes, const std::string& name) {
  const PictureFormat format = check_picture_bytes(bytes, name);
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    refuse_picture(name, fmt::format("it has {} bytes, expected less than 2^31", bytes.size()));
  if (format == PictureFormat::kPng && bytes.substr(kPngStart.size() + 4, 4) == "IHDR")
    check_size(big_endian(bytes.substr(20, 4)), big_endian(bytes.substr(16, 4)), name);
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int num_bytes = static_cast<int>(bytes.size());
  int width = 0, height = 0, file_channels = 0;
  const auto refuse = format == PictureFormat::kJpeg ? refuse_jpeg : refuse_picture;
  if (stbi_info_from_memory(data, num_bytes, &width, &height, &file_channels) == 0) refuse(name, decoder_message());
  check_size(height, width, name);
  const int64_t pixels = int64_t{height} * width;
  if (format == PictureFormat::kJpeg && pixels / kMaxJpegPixelsPerByte > num_bytes)
    refuse_picture(name,
                   fmt::format("{} bytes cannot hold the {} x {} pixels that it claims", num_bytes, height, width));
  // From 2.30 on, stb takes a JPEG for decoded, with samples that nothing has set, where a segment after the frame's header
  // is damaged; only its last reason tells, which is else that of a format tried before.
  const std::unique_ptr<stbi_uc, void (*)(void*)> samples(
      stbi_load_from_memory(data, num_bytes, &width, &height, &file_channels, kChannels), stbi_image_free);
  if (samples == nullptr || !is_other_format(stbi_failure_reason())) refuse(name, decoder_message());
  at::Tensor picture = at::empty({height, width, kChannels}, at::kByte);
  std::memcpy(picture.data_ptr(), samples.get(), picture.nbytes());
  return picture;
}

at::Tensor read_picture(const std::string& path) {
  const MappedFile file(path);
  return decode_picture({file.data(), file.size_bytes()}, path);
}

std::string encode_png(const at::Tensor& picture) {
  check_picture(picture);
  return encoded(picture, stbi_write_png_to_func, static_cast<int>(picture.size(1)) * kChannels);
}

std::string encode_jpeg(const at::Tensor& picture) {
  check_picture(picture);
  if (picture.size(0) > kMaxJpegSize || picture.size(1) > kMaxJpegSize) {
    throw UsageError(fmt::format("A JPEG file holds at most {0} x {0} pixels, got {1} x {2}; write a .png instead.",
                                 kMaxJpegSize, picture.size(0), picture.size(1)));
  }
  return encoded(picture, stbi_write_jpg_to_func, kJpegQuality);
}

void write_picture(const std::string& path, const at::Tensor& picture) {
  const std::string ending = lower_case_ending(path);
  if (ending != ".png" && ending != ".jpg" && ending != ".jpeg")
    throw UsageError(fmt::format("cannot write '{}': expected a name that ends in .png, .jpg or .jpeg", path));
  write_file_atomically(path, ending == ".png" ? encode_png(picture) : encode_jpeg(picture));
}

}  // namespace lab
