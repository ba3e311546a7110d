#include "common/tensor/picture_bytes_jpeg.h"

#include <fmt/format.h>

#include <cstdint>

#include "common/tensor/picture_bytes.h"

namespace lab {
namespace {

// A JPEG is a row of segments: FF, a marker, the segment's size (with its own two bytes) and data.
constexpr int kHuffmanTables = 0xC4, kFirstRestart = 0xD0, kLastRestart = 0xD7, kEnd = 0xD9, kStartOfScan = 0xDA;

class Jpeg {
 public:
  Jpeg(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  int byte(size_t place) const {
    if (place >= bytes_.size()) refuse_short_picture(bytes_, name_);
    return static_cast<unsigned char>(bytes_[place]);
  }
  int64_t segment_bytes(size_t place) const { return byte(place) << 8 | byte(place + 1); }

  /// Each table is a byte, how many codes have 1 .. 16 bits, and a byte per code. Read on past the segment's end, as
  /// the decoder does.
  void check_huffman_tables(size_t place) const {
    int64_t left = segment_bytes(place) - 2;
    for (place += 2; left > 0;) {
      int num_codes = 0;
      for (size_t bits = 1; bits <= 16; ++bits) num_codes += byte(place + bits);
      if (num_codes > 256)
        refuse_picture(name_, fmt::format("the table at byte {} has {} codes, expected at most 256", place, num_codes));
      place += static_cast<size_t>(17 + num_codes);
      left -= 17 + num_codes;
    }
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
};

}  // namespace

void check_jpeg_segments(std::string_view bytes, const std::string& name) {
  const Jpeg jpeg(bytes, name);
  bool in_scan = false;  // samples follow a start of scan: a 00 behind each FF that is no marker, and restart markers
  for (size_t place = 2;;) {
    if (jpeg.byte(place) != 0xFF) {
      if (!in_scan)
        refuse_picture(name, fmt::format("byte {} is {:02x}, expected ff, a segment's", place, jpeg.byte(place)));
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

}  // namespace lab
